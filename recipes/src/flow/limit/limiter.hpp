// The limit of a `limiter`, and those that wait for it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include <zkrecipes/flow/limiter.hpp>

#include "limit/arrival_rule.hpp"
#include "limit/waiting_line.hpp"
#include "session/core.hpp"

namespace zkrecipes::detail {

/// The arrival time and a bit, "somebody waits", are one atomic number. While the bit is set only the owner of the
/// mutex lets calls through, so nobody is overtaken.
class limiter_state final : public waiting_place, public std::enable_shared_from_this<limiter_state> {
 public:
  /// `options` have been checked.
  limiter_state(scheduler_ptr on, const limiter_options& options);

  bool try_acquire(std::uint64_t cost) noexcept;
  void acquire(acquire_handler handler, std::uint64_t cost, time_budget budget);
  void hold_off(lease_clock::duration length);
  lease_clock::duration level() const;
  lease_clock::duration take_level();
  limiter_statistics statistics() const;

  const limiter_options& options() const noexcept { return options_; }
  const scheduler& get_scheduler() const noexcept { return *clock_.get_scheduler(); }
  void drop() override;

 private:
  using kept = std::shared_ptr<waiting_place>;

  bool pass(std::int64_t cost, ticks now, std::int64_t flag) noexcept;
  bool delay(ticks until) noexcept;
  ticks arrival() const noexcept;
  std::optional<error_code> get_in_line(const acquire_waiter_ptr& mine);
  void begin_line();
  [[nodiscard]] kept end_line();
  void listen(const acquire_waiter_ptr& mine);
  void cancel(acquire_waiter& which);
  void serve();
  [[nodiscard]] kept advance(ended_waiters& over);

  limiter_options options_;
  arrival_rule rule_;
  limit_clock clock_;
  std::atomic<std::int64_t> word_;  // twice the arrival time, and 1 if somebody waits
  std::atomic<std::uint64_t> acquired_ = 0;
  std::atomic<std::uint64_t> declined_ = 0;

  mutable std::mutex mutex_;
  waiting_line line_;
  std::shared_ptr<line_timer> timer_;  // null before the first waiter
  std::optional<ticks> taken_;         // the arrival time that `take_level` has told
  std::uint64_t waited_ = 0;
  std::uint64_t held_off_ = 0;
  lease_clock::duration time_waited_{0};
};

/// The tests give it a world of theirs. \throws std::invalid_argument naming the executor or the field.
std::shared_ptr<limiter_state> make_limiter(const asio::any_io_executor& executor, const limiter_options& options,
                                            const world_factory& world);

}  // namespace zkrecipes::detail
