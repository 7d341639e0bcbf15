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

#include "limit/arrival_rule.hpp"
#include "limit/waiting_line.hpp"

namespace zkrecipes::detail {

/// The arithmetic of a rate that is cut into slices, for the process that owns some of them.
/// A bucket with room for the bursts of the slices that are owned, into which their rates flow. It counts in ticks of
/// one slice: what a slice earns in a tick.
///
/// The bound of all processes together follows from the sum of what is in their buckets. It grows by no more than the
/// rate, because no slice has two owners and a slice that is gained brings nothing along. It is never more than the
/// burst, because a slice that is lost takes its room along. And each call takes its cost out of it. So what is let
/// through over a window is what was there at its beginning, a burst at most, and what flowed in.
///
/// Times that are passed never go back.
class slice_credit {
 public:
  /// The whole rate, cut into `slices`. Bounds: see `shared_limiter_options`.
  slice_credit(std::uint64_t rate, lease_clock::duration per, std::uint64_t burst, std::uint32_t slices);

  bool takes(std::uint64_t cost) const noexcept { return cost >= 1 && cost <= largest_cost_; }
  std::uint32_t owned() const noexcept { return owned_; }

  /// Slices that come without credit.
  void gain(std::uint32_t how_many, ticks now);
  /// Lets everything flow in that was earned until now.
  void refill(ticks now);
  /// Slices that go. They have earned nothing since the last refill, because they may have been lost since then.
  void lose(std::uint32_t how_many);
  /// Lets a call through if there is credit for it now.
  bool take(std::uint64_t cost, ticks now);
  /// Lets nothing through until then, and a cost of 1 then. False: an earlier hold-off covers that.
  bool hold(ticks until, ticks now);
  /// When there will be credit for a call if nothing changes. It may be in the past.
  ticks due(std::uint64_t cost) const noexcept;
  /// Cost that was earned and found no room.
  double unused() const noexcept { return unused_; }

 private:
  void earn(ticks length, ticks room);
  ticks whole_room() const noexcept { return room_ * owned_; }

  ticks interval_;  // in which a slice earns a cost of 1
  ticks room_;      // of one slice
  std::uint64_t largest_cost_;
  std::uint32_t owned_ = 0;
  ticks content_ = 0;
  ticks filled_at_ = 0;
  ticks held_until_ = 0;
  double unused_ = 0;
};

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
