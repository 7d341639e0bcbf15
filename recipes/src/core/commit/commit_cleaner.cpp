#include "commit/commit_cleaner.hpp"

#include <utility>

#include "commit/commit_sight.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// Errors that concern only this transaction: clean-up goes on with the next one.
bool is_minor(const error_code& error) {
  return is_overtaken(error) || error == errc::not_empty || error == errc::foreign_data;
}

}  // namespace

commit_cleaner::commit_cleaner(core_ptr session, std::string path, std::chrono::milliseconds age)
    : session_(std::move(session)), path_(std::move(path)), age_(age), index_(session_, path_) {}

awaitable<outcome<std::size_t>> commit_cleaner::clean() {
  auto error = co_await clean_all();
  co_return outcome<std::size_t>(error, removed_);
}

awaitable<error_code> commit_cleaner::clean_all() {
  auto path = co_await index_.read_path();
  auto& [error, seen] = path;
  if (error || seen.layout == commit_layout::missing) co_return error;
  if (seen.layout == commit_layout::mixed) {
    error = co_await index_.adopt(seen);
    ++seen.version;  // the path was written there
  }
  if (error) co_return error;
  // The present time of the servers, to be compared with the times of nodes, is taken from a write.
  auto timed = co_await index_.write_indexed(std::move(seen));
  latest_ = std::get<1>(timed) - age_.count();
  error = std::get<0>(timed);
  if (error == errc::no_node) co_return error_code();  // the path was removed just now
  if (!error) error = co_await handle_undecided();
  if (error) co_return error;
  auto hours = co_await index_.hours();
  error = std::get<0>(hours);
  for (const auto& each : std::get<1>(hours)) {
    const auto hour = hour_of(each);
    if (error || !hour || *hour > latest_) continue;
    error = co_await clean_hour(each);
  }
  co_return error;
}

/// Handles the transactions with a mark among the undecided: removes or moves marks that are out of date, and aborts
/// transactions that are old.
awaitable<error_code> commit_cleaner::handle_undecided() {
  auto found = co_await index_.read_undecided();
  auto error = std::get<0>(found);
  for (const auto& each : std::get<1>(found)) {
    if (error) break;
    auto mark = undecided_mark(path_, each.id);
    if (each.what == indexed_transaction::kind::gone) error = co_await index_.remove_mark(std::move(mark));
    if (each.what == indexed_transaction::kind::decided) error = co_await index_.move_mark(each.id, each.stat.ctime);
    const bool is_old = each.what == indexed_transaction::kind::undecided && each.stat.ctime <= latest_;
    if (is_old) error = co_await give_up(each.id);
    if (is_minor(error)) error.clear();
  }
  co_return error;
}

awaitable<error_code> commit_cleaner::give_up(std::string id) {
  const auto node = join(path_, id);
  auto seen = co_await look_at_commit(session_, node, persistence::limited);
  if (seen.error || seen.record.decided()) co_return seen.error;
  seen.record.outcome = {decision::aborted, "given up"};
  auto abort = make_request(opcode::set, node);
  abort.data = serialize(seen.record);
  abort.version = seen.stat.version;
  auto written = co_await session_->perform(std::move(abort), retry::once);
  co_return written.error;
}

/// Removes those transactions of one hour that were decided long ago.
awaitable<error_code> commit_cleaner::clean_hour(std::string hour) {
  const auto folder = join(decided_folder(path_), hour);
  auto found = co_await index_.read_hour(hour);
  auto error = std::get<0>(found);
  for (const auto& each : std::get<1>(found)) {
    if (error) co_return error;
    auto mark = join(folder, each.id);
    if (each.what == indexed_transaction::kind::gone) error = co_await index_.remove_mark(mark);
    if (each.what != indexed_transaction::kind::decided || each.stat.mtime > latest_) continue;
    error = co_await remove(each, std::move(mark));
    if (!error) ++removed_;
    if (is_minor(error)) error.clear();
  }
  if (error) co_return error;
  auto removing = make_request(opcode::remove, folder);
  co_await session_->perform(std::move(removing), retry::once);  // fails if other transactions of that hour remain
  co_return error_code();
}

/// Removes the votes, the node and the mark of a transaction in one step. If somebody has put other nodes below it,
/// nothing is removed.
awaitable<error_code> commit_cleaner::remove(indexed_transaction which, std::string mark) {
  const auto node = join(path_, which.id);
  auto list = make_request(opcode::children, node);
  auto listed = co_await session_->perform(std::move(list), retry::always);
  if (listed.error) co_return listed.error;
  transaction all;
  for (const auto& each : listed.children) {
    if (each.starts_with("vote-")) all.remove(join(node, each));
  }
  all.remove(node, which.stat.version).remove(mark);
  auto removed = co_await session_->perform(backend::make_multi(all), retry::once);
  co_return removed.error;
}

}  // namespace zkrecipes::detail
