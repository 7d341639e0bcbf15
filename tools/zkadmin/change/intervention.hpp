// What zkadmin changes in a cluster, in two steps: prepare the requests, then send them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "base/failure.hpp"

namespace zkadmin {

/// A node that has to be the one that was seen: one of the same name and version may be another one.
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

struct intervention {
  zkrecipes::transaction requests;  ///< Valid only as long as nothing else changes the same nodes.
  std::string done;                 ///< Tells the user what has been done.
  std::string if_gone;              ///< Tells the user that a node has gone since the requests were prepared.
  std::string if_changed;           ///< The same if it was written or made.
  std::string because{};            ///< Tells the user before, in a line, why it is these requests; may be empty.
  std::vector<seen_node> same{};    ///< Looked at once more just before the requests are sent.
  std::string to_confirm{};         ///< The path that the user has to type first, because of the damage; empty: none.
};

/// The failure of an intervention that was not begun: "WHY: nothing was sent".
failure nothing_was_sent(const std::string& why);

/// The requests as text for the user, one per line: "set <node> version=<v> data=<data>", long data shortened. An N
/// behind the name of a node that is made stands for the number that the servers give it.
std::string to_text(const zkrecipes::transaction& requests);

/// Prepares the removal of a node whatever its version is, if it is still the one that was seen; `owner` names whose it
/// is: "the leader". Nothing if it has gone, or is another one. Throws `failure`.
boost::asio::awaitable<std::optional<intervention>> prepare_removal(zkrecipes::session session, seen_node node,
                                                                    std::string owner);

/// Sends exactly these requests. Throws `failure`; if the answer is lost, with what is seen afterwards.
boost::asio::awaitable<void> send(zkrecipes::session session, intervention wanted);

// The ACL for nodes that zkadmin makes within a recipe.

/// The ACL of the node at `path`, for nodes below it: without it everybody could change what zkadmin writes. Empty if
/// the node is open to everybody. Throws `failure` if the ACL may not be read: ZooKeeper hides the hashes of digests
/// from a session without the right `admin`, and a copy would be of use to nobody.
boost::asio::awaitable<zkrecipes::acl> inherited_acl(zkrecipes::session session, std::string path);

/// The same for nodes at `path` and below it: if that node is missing, the ACL of the nearest one above it counts.
boost::asio::awaitable<zkrecipes::acl> nearest_acl(zkrecipes::session session, std::string path);

}  // namespace zkadmin
