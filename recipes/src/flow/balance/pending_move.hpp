// A move that is to complete: its handler, with the executors that it needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_io_executor.hpp>

#include <zkrecipes/detail/initiate.hpp>

namespace zkrecipes::detail {

/// In one balance of a process, shared or not: each look for the slowest goes through all of them.
inline constexpr std::size_t most_tracks = 10'000;

constexpr std::int64_t largest_range = 1'000'000'000;

/// Whether tracks of a balance may be apart by so much.
constexpr bool is_range(std::uint64_t range) { return range >= 1 && range <= std::uint64_t{largest_range}; }

namespace asio = boost::asio;

/// Both executors keep their contexts running until the move has completed.
class pending_move {
 public:
  using handler = handler_for<void(error_code)>;

  pending_move(const asio::any_io_executor& base, handler whose);
  pending_move(const pending_move&) = delete;
  pending_move& operator=(const pending_move&) = delete;

  asio::cancellation_slot slot() const;
  /// Calls the handler on its executor, later. To be called once, and not under a lock.
  void complete(error_code result);

 private:
  friend class balance_core;

  asio::any_io_executor base_;
  asio::any_completion_executor target_;
  handler handler_;
  // Under the lock of the balance: where it waits, among the moves of its track.
  std::list<std::shared_ptr<pending_move>>::iterator place_{};
  bool waits_ = false;
};

/// Not under a lock: a completion is posted to an executor of the user's.
void complete_all(std::list<std::shared_ptr<pending_move>>& moves, error_code result);

}  // namespace zkrecipes::detail
