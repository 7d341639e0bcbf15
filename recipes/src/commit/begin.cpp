#include <utility>

#include "commit/parties.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// The path is this recipe's, or nobody's yet.
awaitable<error_code> check_path(core_ptr session, std::string path) {
  auto look = make_request(opcode::get, path);
  auto seen = co_await session->perform(std::move(look), retry::always);
  if (seen.error == errc::no_node) co_return co_await session->ensure_path(std::move(path));
  if (!seen.error && !seen.data.empty() && seen.data != commit_mark) co_return errc::foreign_data;
  co_return seen.error;
}

/// What became of a create whose reply was lost. It must not be tried again once it may have been decided and cleaned up.
awaitable<error_code> settle(core_ptr session, std::string node, std::string by) {
  auto seen = co_await look_at_commit(std::move(session), std::move(node), persistence::limited);
  if (seen.error == errc::no_node) co_return errc::outcome_unknown;
  if (seen.error == errc::foreign_data || (!seen.error && seen.record.by != by)) co_return errc::node_exists;
  co_return seen.error;
}

}  // namespace

awaitable<outcome<>> begin_commit(core_ptr session, std::string path, std::string id, commit_record record) {
  record.by = session->make_guid();
  auto error = co_await check_path(session, path);
  if (error) co_return outcome<>(error);
  for (;;) {
    auto create = make_request(opcode::create, join(path, id));
    create.data = serialize(record);
    auto created = co_await session->perform(std::move(create), retry::once);
    const bool lost = created.error == errc::connection_loss || created.error == errc::session_expired;
    if (lost && created.sent) co_return outcome<>(co_await settle(session, join(path, id), record.by));
    if (created.error != errc::no_node) co_return outcome<>(created.error);
    error = co_await session->ensure_path(path);
    if (error) co_return outcome<>(error);
  }
}

}  // namespace zkrecipes::detail
