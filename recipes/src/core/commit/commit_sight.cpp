#include "commit/commit_sight.hpp"

#include <utility>

#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using backend::opcode;

awaitable<commit_sight> look_at_commit(core_ptr session, std::string node, persistence how_long, bool watch,
                                       bool with_children) {
  std::vector<backend::request> all{make_request(opcode::get, node, watch)};
  if (with_children) all.push_back(make_request(opcode::children, node, watch));
  auto answered = co_await perform_latest(std::move(session), std::move(all), how_long);
  auto& [error, replies] = answered;
  commit_sight seen;
  seen.error = error;
  if (seen.error) co_return seen;
  for (const auto& each : replies) seen.error = seen.error ? seen.error : each.error;
  if (seen.error) co_return seen;
  auto record = parse_commit(replies[0].data);
  if (!record) seen.error = errc::foreign_data;
  if (record) seen.record = std::move(*record);
  seen.stat = replies[0].stat;
  seen.children = std::move(replies.back().children);
  co_return seen;
}

bool is_overtaken(const error_code& error) {
  return error == errc::bad_version || error == errc::no_node || may_have_happened(error);
}

}  // namespace zkrecipes::detail
