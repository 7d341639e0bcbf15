#include "cluster/seen_node.hpp"

#include <algorithm>
#include <tuple>

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "for_each_index.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;

asio::awaitable<node_identity> identity_of(zkrecipes::session session, seen_node node) {
  const auto looked = co_await session.async_exists(node.path, as_result);
  const auto error = std::get<0>(looked);
  if (error == zkrecipes::errc::no_node) co_return node_identity::gone;
  check(error, "looking at " + node.path);
  co_return std::get<1>(looked).czxid == node.czxid ? node_identity::same : node_identity::other;
}

}  // namespace

asio::awaitable<node_identity> look_again(zkrecipes::session session, std::vector<seen_node> nodes) {
  std::vector<node_identity> found(nodes.size(), node_identity::same);
  const auto look = [&](std::size_t i) -> asio::awaitable<void> {
    const auto identity = co_await identity_of(session, nodes[i]);
    found[i] = identity;
  };
  co_await for_each_index(nodes.size(), requests_at_a_time, look);
  const auto first = std::find_if(found.begin(), found.end(), [](auto each) { return each != node_identity::same; });
  co_return first == found.end() ? node_identity::same : *first;
}

}  // namespace zkadmin
