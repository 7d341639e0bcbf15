// Clean-up removes transactions that were decided long ago, and aborts those that have been undecided for as long.
#include <utility>

#include "commit/parties.hpp"
#include "commit/transaction_index.hpp"

namespace zkrecipes::detail {

using backend::opcode;
using std::chrono::milliseconds;

namespace {

/// Removes the votes, the node and the mark of a transaction in one step. If somebody has put other nodes below it,
/// nothing is removed.
awaitable<error_code> remove_transaction(core_ptr session, std::string node, std::string mark, std::int32_t version) {
  auto list = make_request(opcode::children, node);
  auto listed = co_await session->perform(std::move(list), retry::always);
  if (listed.error) co_return listed.error;
  transaction all;
  for (const auto& each : listed.children) {
    if (each.starts_with("vote-")) all.remove(join(node, each));
  }
  all.remove(node, version).remove(mark);
  auto removed = co_await session->perform(backend::make_multi(all), retry::once);
  co_return removed.error;
}

awaitable<error_code> give_up(core_ptr session, std::string node) {
  auto seen = co_await look_at_commit(session, node, persistence::limited);
  if (seen.error || seen.record.decided()) co_return seen.error;
  seen.record.outcome = {decision::aborted, "given up"};
  auto abort = make_request(opcode::set, std::move(node));
  abort.data = serialize(seen.record);
  abort.version = seen.stat.version;
  auto written = co_await session->perform(std::move(abort), retry::once);
  co_return written.error;
}

/// Errors that concern only this transaction: clean-up goes on with the next one.
bool is_minor(const error_code& error) {
  return is_overtaken(error) || error == errc::not_empty || error == errc::foreign_data;
}

/// Handles the transactions with a mark among the undecided: removes or moves marks that are out of date, and aborts
/// transactions that are old.
awaitable<error_code> see_to_undecided(core_ptr session, std::string path, std::int64_t latest) {
  auto found = co_await read_undecided(session, path);
  auto error = std::get<0>(found);
  for (const auto& each : std::get<1>(found)) {
    if (error) break;
    const auto node = join(path, each.id);
    if (each.what == indexed_transaction::kind::gone)
      error = co_await remove_mark(session, undecided_mark(path, each.id));
    if (each.what == indexed_transaction::kind::decided) error = co_await index_decided(session, node, each.stat.ctime);
    const bool is_old = each.what == indexed_transaction::kind::undecided && each.stat.ctime <= latest;
    if (is_old) error = co_await give_up(session, node);
    if (is_minor(error)) error.clear();
  }
  co_return error;
}

/// Removes those transactions of one hour that were decided long ago.
awaitable<error_code> clean_hour(core_ptr session, std::string path, std::string folder, std::int64_t latest,
                                 std::size_t& removed) {
  auto listed = co_await list_ids(session, folder);
  if (std::get<0>(listed)) co_return std::get<0>(listed);
  auto found = co_await read_transactions(session, path, std::move(std::get<1>(listed)), true);
  auto error = std::get<0>(found);
  for (const auto& each : std::get<1>(found)) {
    if (error) co_return error;
    auto mark = join(folder, each.id);
    if (each.what == indexed_transaction::kind::gone) error = co_await remove_mark(session, std::move(mark));
    if (each.what != indexed_transaction::kind::decided || each.stat.mtime > latest) continue;
    error = co_await remove_transaction(session, join(path, each.id), std::move(mark), each.stat.version);
    if (!error) ++removed;
    if (is_minor(error)) error.clear();
  }
  if (error) co_return error;
  auto remove = make_request(opcode::remove, folder);
  co_await session->perform(std::move(remove), retry::once);  // fails if other transactions of that hour remain
  co_return error_code();
}

}  // namespace

awaitable<outcome<std::size_t>> clean_up(core_ptr session, std::string path, milliseconds age) {
  std::size_t removed = 0;
  auto layout = co_await read_layout(session, path);
  auto& [error, seen] = layout;
  if (error || seen.layout == commit_layout::missing) co_return outcome<std::size_t>(error, removed);
  if (seen.layout == commit_layout::mixed) {
    error = co_await adopt_transactions(session, path, seen);
    ++seen.version;  // the path was written there
  }
  if (error) co_return outcome<std::size_t>(error, removed);
  // The present time of the servers, to be compared with the times of nodes, is taken from a write.
  auto timed = co_await write_indexed(session, path, std::move(seen));
  const auto latest = std::get<1>(timed) - age.count();
  error = std::get<0>(timed);
  if (error == errc::no_node) co_return outcome<std::size_t>(error_code(), removed);  // the path was removed just now
  if (!error) error = co_await see_to_undecided(session, path, latest);
  if (error) co_return outcome<std::size_t>(error, removed);
  auto hours = co_await list_ids(session, decided_folder(path));
  error = std::get<0>(hours);
  for (const auto& each : std::get<1>(hours)) {
    const auto hour = hour_of(each);
    if (error || !hour || *hour > latest) continue;
    error = co_await clean_hour(session, path, join(decided_folder(path), each), latest, removed);
  }
  co_return outcome<std::size_t>(error, removed);
}

}  // namespace zkrecipes::detail
