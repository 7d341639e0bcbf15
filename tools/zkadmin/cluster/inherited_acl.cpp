#include "cluster/inherited_acl.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "cluster/node_path.hpp"
#include "failure.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;

/// ZooKeeper writes "user:x" in place of the hash.
bool is_hidden(const zkrecipes::acl_entry& each) { return each.scheme == "digest" && each.id.ends_with(":x"); }

/// Nothing: there is no such node.
asio::awaitable<std::optional<zkrecipes::acl>> find_inherited_acl(zkrecipes::session session, std::string path) {
  auto reading = co_await session.async_get_acl(path, as_result);
  if (std::get<0>(reading) == zkrecipes::errc::no_node) co_return std::nullopt;
  check(std::get<0>(reading), "reading the ACL of " + path);
  auto access = std::move(std::get<1>(reading));
  if (std::any_of(access.begin(), access.end(), is_hidden))
    throw failure(exit_code::auth, "the ACL of " + printable(path) +
                                       " is hidden from these credentials, which lack the right `admin`, so what is "
                                       "made below it could not have it: nothing was sent");
  if (access == zkrecipes::open_acl()) access.clear();
  co_return access;
}

}  // namespace

asio::awaitable<zkrecipes::acl> inherited_acl(zkrecipes::session session, std::string path) {
  auto access = co_await find_inherited_acl(std::move(session), path);
  if (!access) check(make_error_code(zkrecipes::errc::no_node), "reading the ACL of " + path);
  co_return std::move(*access);
}

asio::awaitable<zkrecipes::acl> nearest_acl(zkrecipes::session session, std::string path) {
  for (;;) {
    auto access = co_await find_inherited_acl(session, path);
    if (access) co_return std::move(*access);
    if (path == "/") co_return zkrecipes::acl();  // the root of `hosts` is missing
    path = parent_of(path);
  }
}

}  // namespace zkadmin
