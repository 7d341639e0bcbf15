// The arithmetic of a rate that is cut into slices, for the process that owns some of them.
#pragma once

#include <cstdint>

#include "limit/arrival_rule.hpp"

namespace zkrecipes::detail {

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

}  // namespace zkrecipes::detail
