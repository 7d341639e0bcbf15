// A node that has to be the one that was seen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

namespace zkadmin {

/// One of the same name and version may be another one.
struct seen_node {
  std::string path;
  std::int64_t czxid = 0;
  friend bool operator==(const seen_node&, const seen_node&) = default;
};

enum class node_identity { same, gone, other };

/// Looks at the nodes once more, many at a time: `same` if all are those that were seen, or what has become of the
/// first one that is not. ZooKeeper has no condition on a node's identity, so this look comes as late as it can before
/// the requests that depend on it. Throws `failure`.
boost::asio::awaitable<node_identity> look_again(zkrecipes::session session, std::vector<seen_node> nodes);

}  // namespace zkadmin
