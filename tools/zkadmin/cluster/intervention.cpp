#include "cluster/intervention.hpp"

#include <tuple>
#include <utility>

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "failure.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using zkrecipes::errc;
using kind = zkrecipes::operation::kind;

constexpr std::size_t longest_shown = 1000;  // Bytes of data; recipes write less.

const char* name_of(kind type) {
  switch (type) {
    case kind::create: return "create";
    case kind::remove: return "delete";
    case kind::set: return "set";
    case kind::check: return "check";
  }
  return "?";
}

/// The servers put a number behind the name.
bool is_sequential(const zkrecipes::operation& request) {
  using mode = zkrecipes::create_mode;
  const bool is_numbered = request.mode == mode::persistent_sequential || request.mode == mode::ephemeral_sequential;
  return request.type == kind::create && is_numbered;
}

std::string to_text(const zkrecipes::operation& request) {
  const bool has_data = request.type == kind::create || request.type == kind::set;
  std::string text = std::string(name_of(request.type)) + " " + printable(request.path);
  if (is_sequential(request)) text += "N";
  if (request.type != kind::create) text += " version=" + std::to_string(request.version);
  if (has_data) text += " data=" + printable(shortened(request.data, longest_shown));
  return text + "\n";
}

}  // namespace

std::string to_text(const zkrecipes::transaction& requests) {
  std::string text;
  for (const auto& each : requests.operations()) text += to_text(each);
  return text;
}

asio::awaitable<void> send(zkrecipes::session session, intervention wanted) {
  auto outcome = co_await session.async_commit(std::move(wanted.requests), as_result);
  const auto error = std::get<0>(outcome);
  const bool is_changed = error == errc::bad_version || error == errc::node_exists;
  if (error == errc::no_node) throw failure(exit_code::error, wanted.if_gone);
  if (is_changed) throw failure(exit_code::error, wanted.if_changed);
  check(error, "sending the request");
}

}  // namespace zkadmin
