#include "change/node_change.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include <boost/asio/error.hpp>

#include "base/failure.hpp"
#include "base/tasks.hpp"
#include "base/text.hpp"
#include "cluster/collector.hpp"
#include "cluster/node_walk.hpp"
#include "cluster/nodes.hpp"
#include "discovery/service_instance.hpp"

namespace zkadmin {

namespace asio = boost::asio;

asio::awaitable<void> require_free(zkrecipes::session session, std::string path, bool force) {
  if (force) co_return;
  const auto reason = co_await recipe_that_keeps(std::move(session), path);
  if (!reason.empty())
    throw failure(exit_code::error,
                  printable(path + ": " + reason) + ": nothing was sent; --force does it all the same");
}

asio::awaitable<intervention> prepare_set(zkrecipes::session session, std::string path, std::string data,
                                          change_options how) {
  co_await require_free(session, path, how.force);
  const auto node = co_await read_stat(session, path);
  intervention change;
  change.done = "wrote " + std::to_string(data.size()) + " bytes to " + path;
  change.if_gone = path + " has just been deleted: nothing was written";
  change.if_changed = path + " has another version by now: nothing was written, look at it again";
  change.requests.set(path, std::move(data), how.version.value_or(node.stat->version));
  co_return change;
}

asio::awaitable<intervention> prepare_delete(zkrecipes::session session, std::string path, change_options how) {
  co_await require_free(session, path, how.force);
  const auto node = co_await read_stat(session, path);
  if (node.stat->num_children > 0)
    throw failure(exit_code::error, printable(path) + " has children, " + std::to_string(node.stat->num_children) +
                                        " of them: nothing was sent; --recursive deletes them too");
  intervention change;
  change.done = "deleted " + path;
  change.if_gone = path + " has just been deleted by another";
  change.if_changed = path + " has another version by now: nothing was deleted, look at it again";
  change.requests.remove(path, how.version.value_or(node.stat->version));
  co_return change;
}

namespace {

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

namespace {

namespace detail = zkrecipes::detail;
using zkrecipes::errc;

asio::awaitable<zkrecipes::node_data> read_instance(zkrecipes::session session, std::string service,
                                                    std::string instance) {
  const bool is_name = !instance.empty() && instance.find('/') == std::string::npos;
  if (!is_name)
    throw failure(exit_code::usage, "INSTANCE: expected the id of an instance, found \"" + printable(instance) + "\"");
  auto reading = co_await session.async_get(join(service, instance), as_result);
  const auto error = std::get<0>(reading);
  if (error == errc::no_node) throw failure(exit_code::not_found, printable(service + " has no instance " + instance));
  check(error, "reading " + join(service, instance));
  co_return std::move(std::get<1>(reading));
}

intervention change_of(const std::string& path, const zkrecipes::node_data& node, std::string data, std::string done) {
  intervention change;
  change.requests.set(path, std::move(data), node.stat.version);
  change.same = {{path, node.stat.czxid}};
  change.done = std::move(done);
  change.if_gone = "the instance has just been unregistered: nothing was written";
  change.if_changed = "the instance has just been described anew: nothing was written, try again";
  return change;
}

}  // namespace

asio::awaitable<intervention> prepare_instance_drain(zkrecipes::session session, std::string service,
                                                     std::string instance) {
  const auto path = join(service, instance);
  const auto node = co_await read_instance(std::move(session), service, instance);
  auto marked = detail::with_drain_mark(node.data);
  if (!marked) throw nothing_was_sent(path + " is no instance of a service");
  if (detail::is_drained(node.data)) throw nothing_was_sent(path + " is drained already");
  co_return change_of(path, node, std::move(*marked), "drained " + path);
}

asio::awaitable<intervention> prepare_instance_undrain(zkrecipes::session session, std::string service,
                                                       std::string instance) {
  const auto path = join(service, instance);
  const auto node = co_await read_instance(std::move(session), service, instance);
  auto unmarked = detail::without_drain_mark(node.data);
  if (!unmarked) throw nothing_was_sent(path + " is no instance of a service");
  if (!detail::is_drained(node.data))
    throw nothing_was_sent(path + " is not drained by an operator; whether it is enabled is said by its owner alone");
  co_return change_of(path, node, std::move(*unmarked), "ended the drain of " + path);
}

}  // namespace zkadmin
