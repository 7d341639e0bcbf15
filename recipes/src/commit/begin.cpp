#include <utility>

#include "commit/parties.hpp"
#include "commit/transaction_index.hpp"

namespace zkrecipes::detail {

namespace {

/// Finds out what became of a create whose reply was lost. The create must not be sent again, because the transaction
/// may have been decided and cleaned up since.
awaitable<error_code> settle(core_ptr session, std::string node, std::string by) {
  auto seen = co_await look_at_commit(std::move(session), std::move(node), persistence::limited);
  if (seen.error == errc::no_node) co_return errc::outcome_unknown;
  if (seen.error == errc::foreign_data || (!seen.error && seen.record.by != by)) co_return errc::node_exists;
  co_return seen.error;
}

}  // namespace

awaitable<outcome<>> begin_commit(core_ptr session, std::string path, std::string id, commit_record record) {
  record.by = session->make_guid();
  auto layout = co_await read_layout(session, path, false);
  auto error = std::get<0>(layout);
  if (!error && std::get<1>(layout).layout == commit_layout::missing) error = co_await open_path(session, path);
  if (error) co_return outcome<>(error);
  for (;;) {
    transaction both;
    both.create(join(path, id), serialize(record)).create(undecided_mark(path, id));
    auto created = co_await session->perform(backend::make_multi(both), retry::once);
    const bool lost = created.error == errc::connection_loss || created.error == errc::session_expired;
    if (lost && created.sent) co_return outcome<>(co_await settle(session, join(path, id), record.by));
    if (created.error != errc::no_node) co_return outcome<>(created.error);
    error = co_await open_path(session, path);
    if (error) co_return outcome<>(error);
  }
}

}  // namespace zkrecipes::detail
