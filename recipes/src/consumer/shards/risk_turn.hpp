// Shards of one member that may bring down their process begin one after the other.
#pragma once

#include <cstdint>
#include <optional>

#include "session/condition.hpp"

namespace zkrecipes::detail {

/// A process that dies takes all its shards along, and the death counts for each that has not made progress yet. So a
/// shard that the next death would put in quarantine begins alone: then the death counts for it only. On the strand.
class risk_turn {
 public:
  explicit risk_turn(scheduler_ptr on) : changed_(std::move(on)) {}

  /// Whether this shard has the turn now.
  bool take(std::uint32_t shard) {
    if (!holder_) holder_ = shard;
    return holder_ == shard;
  }
  /// False: it was not its turn.
  bool pass_on(std::uint32_t shard) {
    if (holder_ != shard) return false;
    holder_.reset();
    changed_.notify();
    return true;
  }
  condition& changed() noexcept { return changed_; }

 private:
  std::optional<std::uint32_t> holder_;
  condition changed_;
};

}  // namespace zkrecipes::detail
