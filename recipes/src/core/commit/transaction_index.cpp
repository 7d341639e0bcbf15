#include "commit/transaction_index.hpp"

#include <utility>

namespace zkrecipes::detail {

using backend::opcode;

transaction_index::transaction_index(core_ptr session, std::string path)
    : session_(std::move(session)), path_(std::move(path)) {}

awaitable<error_code> transaction_index::add_mark(indexed_transaction which) {
  const bool decided = which.what == indexed_transaction::kind::decided;
  const auto mark = decided ? decided_mark(path_, which.id, which.stat.ctime) : undecided_mark(path_, which.id);
  if (decided) co_await provide_folders(mark);
  auto make = make_request(opcode::create, mark);
  auto made = co_await session_->perform(std::move(make), retry::always);
  co_return made.error == errc::node_exists ? error_code() : made.error;
}

awaitable<error_code> transaction_index::move_mark(std::string id, std::int64_t begun) {
  const auto after = decided_mark(path_, id, begun);
  const auto before = undecided_mark(path_, id);
  // In one transaction, so that the mark is in one of the folders at any time.
  transaction move;
  move.remove(before).create(after);
  backend::reply done = co_await session_->perform(backend::make_multi(move), retry::always);
  if (done.error == errc::no_node) {  // the folder of the hour is missing, or somebody has moved the mark
    co_await provide_folders(after);
    done = co_await session_->perform(backend::make_multi(move), retry::always);
  }
  if (done.error == errc::node_exists) co_return co_await remove_mark(before);
  co_return done.error == errc::no_node ? error_code() : done.error;
}

void transaction_index::move_mark_later(std::string id, std::int64_t begun) const {
  struct body {
    static awaitable<void> run(transaction_index self, std::string id, std::int64_t begun) {
      co_await self.move_mark(std::move(id), begun);
    }
  };
  launch_detached(session_->strand(), body::run(*this, std::move(id), begun));
}

awaitable<error_code> transaction_index::remove_mark(std::string mark) {
  auto remove = make_request(opcode::remove, std::move(mark));
  auto removed = co_await session_->perform(std::move(remove), retry::always);
  co_return removed.error == errc::no_node ? error_code() : removed.error;
}

/// Creates the folder of an hour and the folder above it. Errors are ignored: if the path itself is missing, nothing is
/// to be kept any more.
awaitable<void> transaction_index::provide_folders(std::string mark) {
  auto hour = std::string(parent_of(mark));
  std::vector<backend::request> both{make_request(opcode::create, decided_folder(path_)),
                                     make_request(opcode::create, hour)};
  co_await session_->perform_all(std::move(both));
}

}  // namespace zkrecipes::detail
