#include "cluster/instance_change.hpp"

#include <optional>
#include <tuple>
#include <utility>

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "cluster/node_path.hpp"
#include "discovery/drain_mark.hpp"
#include "failure.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
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
