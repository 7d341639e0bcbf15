// The slices of a rate that this process owns, and those that wait for the rate.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include <zkrecipes/consumer/shared_limiter.hpp>
#include <zkrecipes/flow/limiter.hpp>

#include "limit/ended_waiters.hpp"
#include "limit/limit_clock.hpp"
#include "limit/line_timer.hpp"
#include "limit/waiting_line.hpp"
#include "limit/waiting_place.hpp"
#include "rate/slice_credit.hpp"

namespace zkrecipes::detail {

/// A slice counts while its term is valid. The terms of all slices end with the lease of the same session, so each call
/// looks at one of them; every 10 ms all are looked at, because one can be given up behind our back. A slice whose
/// validity comes back is like a new one.
///
/// From any thread.
class slice_share final : public waiting_place, public std::enable_shared_from_this<slice_share> {
 public:
  /// Until when a slice may be used if nothing more is heard; in the past once it is given up. From any thread.
  using validity = std::function<lease_clock::time_point()>;

  slice_share(scheduler_ptr on, const slice_credit& credit);

  bool try_acquire(std::uint64_t cost);
  void acquire(acquire_handler handler, std::uint64_t cost, time_budget budget);
  void hold_off(lease_clock::duration length);

  /// A slice became ours: its previous owner does not use it any more.
  void add(std::uint32_t slice, validity until);
  /// From now on the slice is not used.
  void remove(std::uint32_t slice);

  /// A run begins: operations wait for a share. Without a run they complete with `closed`.
  void open(std::uint64_t run);
  /// The run has ended, and with it all operations, unless another one has begun.
  void close(std::uint64_t run);

  limiter_statistics statistics() const;
  /// What concerns the slices.
  void show_in(shared_limiter_status& status) const;
  void drop() override;

 private:
  using kept = std::shared_ptr<waiting_place>;
  struct slice {
    validity until;
    bool counts = false;  // in the credit
  };

  bool is_valid(const slice& which, ticks now) const { return which.until() > clock_.time_of(now); }
  bool is_current(ticks now) const { return !sample_ || is_valid(*sample_, now); }
  void look_if_due(ticks now);
  void look(ticks now);
  bool pass(std::int64_t cost, ticks now);
  std::optional<error_code> get_in_line(const acquire_waiter_ptr& mine);
  acquire_waiter_ptr without_deadline(acquire_waiter_ptr which);
  void listen(const acquire_waiter_ptr& mine);
  void cancel(acquire_waiter& which);
  void serve();
  void set_timer(ticks now);
  [[nodiscard]] kept advance(ended_waiters& over);
  [[nodiscard]] kept end_line();

  limit_clock clock_;

  mutable std::mutex mutex_;
  slice_credit credit_;
  std::map<std::uint32_t, slice> slices_;
  const slice* sample_ = nullptr;  // one of those that count
  ticks look_at_ = 0;              // when to look at all of them
  waiting_line line_;
  std::set<std::pair<ticks, acquire_waiter*>> deadlines_;  // of those in line that have one
  std::shared_ptr<line_timer> timer_;                      // null before the first waiter
  std::uint64_t run_ = 0;
  bool is_closed_ = true;
  limiter_statistics counted_;  // without `waiting`
};

}  // namespace zkrecipes::detail
