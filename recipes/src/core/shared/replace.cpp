#include "shared/replace.hpp"

#include <utility>

#include "backend/request.hpp"
#include "session/outcomes.hpp"
#include "session/together.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// The result of a conditional write, judged by the present node.
enum class verdict { not_done, refused, unknown };

/// If the version is one higher than the one seen, there was exactly one write. If it has other data than ours, ours
/// was refused.
verdict judge(const backend::reply& now, const node_stat& seen, const std::string& data) {
  if (now.error) return verdict::unknown;
  if (now.stat.czxid != seen.czxid) return verdict::unknown;
  if (now.stat.version == seen.version) return verdict::not_done;
  const bool is_next = now.stat.mzxid != seen.mzxid && now.stat.version == seen.version + 1;
  return is_next && now.data != data ? verdict::refused : verdict::unknown;
}

}  // namespace

bool may_be_done(const backend::reply& result) { return result.sent && may_have_happened(result.error); }

awaitable<backend::reply> read_latest(core_ptr session, std::string path) {
  const std::vector<backend::request> both{backend::make_catch_up(), make_request(opcode::get, path)};
  for (;;) {
    backend::reply result;
    result.error = co_await session->wait_connected(nullptr, never);
    if (result.error) co_return result;
    auto replies = co_await session->perform_all(both);
    if (!has_caught_up(replies[0].error)) replies[1].error = replies[0].error;
    if (!may_have_happened(replies[1].error)) co_return std::move(replies[1]);
  }
}

awaitable<outcome<node_stat>> replace(core_ptr session, std::string path, node_stat seen, std::string data) {
  if (is_too_large(data)) co_return outcome<node_stat>(errc::too_large, node_stat());
  auto set = make_request(opcode::set, path);
  set.data = data;
  set.version = seen.version;
  for (;;) {
    auto result = co_await session->perform(set, retry::once);
    if (!result.error && result.stat.czxid != seen.czxid) result.error = errc::node_removed;
    if (!may_be_done(result)) co_return outcome<node_stat>(result.error, result.stat);
    auto now = co_await read_latest(session, path);
    const auto found = judge(now, seen, data);
    if (found == verdict::refused) co_return outcome<node_stat>(errc::bad_version, node_stat());
    if (found == verdict::unknown) co_return outcome<node_stat>(errc::outcome_unknown, node_stat());
  }
}

awaitable<outcome<node_stat>> make(core_ptr session, std::string path, std::string data) {
  if (is_too_large(data)) co_return outcome<node_stat>(errc::too_large, node_stat());
  auto create = make_request(opcode::create, path);
  create.data = data;
  for (;;) {
    auto result = co_await session->perform(create, retry::once);
    if (result.error == errc::no_node) {
      std::string parent(parent_of(path));
      auto error = co_await session->ensure_path(std::move(parent));
      if (error && error != errc::connection_loss) co_return outcome<node_stat>(error, node_stat());
      continue;
    }
    // The present node tells nothing: it may have been made by us, deleted, and made again by somebody else.
    if (may_be_done(result)) result.error = errc::outcome_unknown;
    co_return outcome<node_stat>(result.error, result.stat);
  }
}

}  // namespace zkrecipes::detail
