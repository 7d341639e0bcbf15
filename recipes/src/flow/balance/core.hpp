// The tracks of a balance and their limit.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include <zkrecipes/flow/balance.hpp>

#include "balance/pending_move.hpp"

namespace zkrecipes::detail {

class track_state;

/// The limit is the steps of the slowest track and the range. It is computed anew by a track that has used up its copy
/// of the limit, and, while others wait, by each track that passes a granule of its steps, a quarter of the range. So a
/// track that waits is at least (range - granule + 1) ahead of the slowest, and is never the slowest. `track_state`
/// tells which thread may write what, and in which memory order.
class balance_core : public std::enable_shared_from_this<balance_core> {
 public:
  balance_core(asio::any_io_executor executor, const balance_options& options);
  balance_core(const balance_core&) = delete;
  balance_core& operator=(const balance_core&) = delete;

  const asio::any_io_executor& executor() const noexcept { return executor_; }
  const balance_options& options() const noexcept { return options_; }

  std::shared_ptr<track_state> join(std::string name);
  void leave(track_state& whose) noexcept;
  balance_status status();

  /// The present limit. Nothing: the track has left, or a move of it waits.
  std::optional<std::int64_t> limit_for(const track_state& whose);
  bool ends_granule(std::int64_t steps) const noexcept { return steps % granule_ == 0; }
  std::int64_t end_of_granule(std::int64_t steps) const noexcept { return (steps / granule_ + 1) * granule_; }
  /// To be called behind the step that ends a granule.
  void passed_granule();
  /// Completes the move when its step is made.
  void wait(track_state& whose, std::shared_ptr<pending_move> move);
  void cancel(track_state& whose, const std::shared_ptr<pending_move>& move);
  /// The context is being shut down: destroys the moves that wait, and with them their handlers.
  void abandon() noexcept;

  /// Under the lock.
  std::int64_t limit() const noexcept { return slowest_ + range_; }

 private:
  using moves = std::list<std::shared_ptr<pending_move>>;

  void look();
  bool grant(moves& granted);
  moves advance();
  void begin_waiting();
  void end_waiting();

  asio::any_io_executor executor_;
  balance_options options_;
  std::int64_t range_;
  std::int64_t granule_;
  std::atomic<std::size_t> waiting_ = 0;  // tracks with moves that wait; written under the lock

  std::mutex mutex_;
  std::vector<track_state*> tracks_;  // they leave before they are destroyed
  std::int64_t slowest_ = 0;  // its steps when they were looked at; without tracks those of the last one when it left
  std::int64_t spread_ = 0;
  std::int64_t largest_spread_ = 0;
};

}  // namespace zkrecipes::detail
