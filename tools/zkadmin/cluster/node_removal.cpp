#include "cluster/node_removal.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "for_each_index.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using zkrecipes::errc;

asio::awaitable<void> remove_node(zkrecipes::session session, const node_view& node, removal_result& result) {
  if (!result.obstacle.empty()) co_return;
  auto outcome = co_await session.async_remove(node.path, node.stat->version, as_result);
  const auto error = std::get<0>(outcome);
  if (error == errc::no_node) {
    ++result.gone;
  } else if (error == errc::bad_version || error == errc::not_empty) {
    result.obstacle = node.path;
  } else {
    check(error, "deleting " + node.path);
    ++result.deleted;
  }
}

}  // namespace

std::vector<node_view> leaves_first(std::vector<node_view> nodes) {
  std::stable_sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.depth > b.depth; });
  return nodes;
}

asio::awaitable<void> remove_nodes(zkrecipes::session session, std::vector<node_view> nodes, removal_result& result) {
  nodes = leaves_first(std::move(nodes));
  for (std::size_t begin = 0; begin < nodes.size() && result.obstacle.empty();) {
    const auto depth = nodes[begin].depth;
    auto end = begin;
    while (end < nodes.size() && nodes[end].depth == depth) ++end;
    const auto remove_one = [&, begin](std::size_t i) { return remove_node(session, nodes[begin + i], result); };
    co_await for_each_index(end - begin, requests_at_a_time, remove_one);
    begin = end;
  }
}

}  // namespace zkadmin
