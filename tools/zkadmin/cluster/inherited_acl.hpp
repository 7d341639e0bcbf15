// The ACL for nodes that zkadmin makes within a recipe.
#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

namespace zkadmin {

/// The ACL of the node at `path`, for nodes below it: without it everybody could change what zkadmin writes. Empty if
/// the node is open to everybody. Throws `failure` if the ACL may not be read: ZooKeeper hides the hashes of digests
/// from a session without the right `admin`, and a copy would be of use to nobody.
boost::asio::awaitable<zkrecipes::acl> inherited_acl(zkrecipes::session session, std::string path);

/// The same for nodes at `path` and below it: if that node is missing, the ACL of the nearest one above it counts.
boost::asio::awaitable<zkrecipes::acl> nearest_acl(zkrecipes::session session, std::string path);

}  // namespace zkadmin
