#include "cluster/node_removal.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <boost/asio/error.hpp>

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "for_each_index.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using zkrecipes::errc;

bool is_over(const removal_result& result) { return result.is_stopped || !result.obstacle.empty(); }

/// The result of the removal. Looks at the node first: one that was made anew may have the same version, but is not the
/// one that was listed.
asio::awaitable<zkrecipes::error_code> remove_listed_node(zkrecipes::session session, const node_view& node,
                                                          const removal_result& result) {
  const auto seen = co_await session.async_exists(node.path, as_result);
  const auto error = std::get<0>(seen);
  if (error == errc::no_node) co_return error;
  check(error, "looking at " + node.path);
  if (std::get<1>(seen).czxid != node.stat->czxid) co_return errc::bad_version;
  if (is_over(result)) co_return asio::error::operation_aborted;
  const auto outcome = co_await session.async_remove(node.path, node.stat->version, as_result);
  co_return std::get<0>(outcome);
}

asio::awaitable<void> remove_node(zkrecipes::session session, const node_view& node, removal_result& result) {
  if (is_over(result)) co_return;
  const auto error = co_await remove_listed_node(session, node, result);
  if (error == asio::error::operation_aborted) co_return;
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
  // The server of this session may be behind the one that the listing is from.
  const auto present = co_await session.async_sync(as_result);
  check(std::get<0>(present), "catching up");
  for (std::size_t begin = 0; begin < nodes.size() && !is_over(result);) {
    const auto depth = nodes[begin].depth;
    auto end = begin;
    while (end < nodes.size() && nodes[end].depth == depth) ++end;
    const auto remove_one = [&, begin](std::size_t i) { return remove_node(session, nodes[begin + i], result); };
    co_await for_each_index(end - begin, requests_at_a_time, remove_one);
    begin = end;
  }
}

}  // namespace zkadmin
