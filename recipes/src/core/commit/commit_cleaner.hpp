// Clean-up removes transactions that were decided long ago, and aborts those that have been undecided for as long.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "commit/transaction_index.hpp"

namespace zkrecipes::detail {

/// One clean-up.
class commit_cleaner {
 public:
  commit_cleaner(core_ptr session, std::string path, std::chrono::milliseconds age);

  /// Returns how many transactions were removed; after an error, how many had been removed until then.
  awaitable<outcome<std::size_t>> clean();

  const scheduler_ptr& get_scheduler() const noexcept { return session_->get_scheduler(); }

 private:
  awaitable<error_code> clean_all();
  awaitable<error_code> handle_undecided();
  awaitable<error_code> give_up(std::string id);
  awaitable<error_code> clean_hour(std::string hour);
  awaitable<error_code> remove(indexed_transaction which, std::string mark);

  core_ptr session_;
  std::string path_;
  std::chrono::milliseconds age_;
  transaction_index index_;
  std::int64_t latest_ = 0;  // what happened until then is old, by the servers' clock
  std::size_t removed_ = 0;
};

}  // namespace zkrecipes::detail
