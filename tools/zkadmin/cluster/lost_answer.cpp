#include "cluster/lost_answer.hpp"

#include <tuple>
#include <utility>

#include "as_result.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using zkrecipes::errc;
using kind = zkrecipes::operation::kind;

/// The servers put a number behind the name, so the node that was made can not be told from others. The other requests
/// of the transaction tell what came of it.
bool has_unknown_name(const zkrecipes::operation& request) {
  using mode = zkrecipes::create_mode;
  const bool is_numbered = request.mode == mode::persistent_sequential || request.mode == mode::ephemeral_sequential;
  return request.type == kind::create && is_numbered;
}

std::string seen_of(const zkrecipes::operation& request, const zkrecipes::error_code& error,
                    const zkrecipes::node_data& node) {
  const auto& path = request.path;
  if (error == errc::no_node) return path + (request.type == kind::remove ? " has gone since" : " is not there");
  if (error) return "what came of it is not known";
  if (request.type == kind::create) return path + " is there";
  const bool is_written = request.type == kind::set && node.data == request.data;
  if (is_written) return path + " holds what was to be written";
  const bool is_as_before = node.stat.version == request.version;
  return path + (is_as_before ? " is as it was" : " has been written by another");
}

}  // namespace

asio::awaitable<std::string> what_came_of(zkrecipes::session session, zkrecipes::transaction requests) {
  // The server that is asked now may be behind the one that was asked before.
  const auto present = co_await session.async_sync(as_result);
  if (std::get<0>(present)) co_return "what came of it is not known";
  std::string text;
  for (const auto& each : requests.operations()) {
    if (each.type == kind::check || has_unknown_name(each)) continue;
    auto looked = co_await session.async_get(each.path, as_result);
    if (!text.empty()) text += ", ";
    text += seen_of(each, std::get<0>(looked), std::get<1>(looked));
  }
  co_return text;
}

}  // namespace zkadmin
