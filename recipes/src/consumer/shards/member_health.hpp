// Whether what fails at a member of a shard group is a shard, or the member and what it depends on.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <zkrecipes/consumer/shard_group.hpp>

#include "session/condition.hpp"

namespace zkrecipes::detail {

/// Shards of one member that may bring down their process begin one after the other.
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

/// A member most of whose shards fail asks for none, so that others get them, and tries again on probation. On the
/// strand.
class member_health {
 public:
  using time_point = lease_clock::time_point;

  /// `options` outlives it.
  member_health(scheduler_ptr on, const shard_group_options& options)
      : options_(options), on_(on), changed_(on), probe_(std::move(on)) {}

  void add(std::uint32_t shard) { has_failed_.emplace(shard, false); }
  void forget(std::uint32_t shard);
  void record_failure(std::uint32_t shard, const std::string& what);
  /// A shard that has failed executes again. It may be too early to call it progress, but others can try, too.
  /// Such a sign ends the lowering, unless one was wrong.
  void on_good_sign(std::uint32_t shard);
  void on_progress(std::uint32_t shard);
  /// Ends the lowering when its time is over.
  void look();

  bool has_failed(std::uint32_t shard) const {
    const auto found = has_failed_.find(shard);
    return found != has_failed_.end() && found->second;
  }
  /// Whether progress of this shard is of interest.
  bool is_watched(std::uint32_t shard) const { return is_on_probation_ || has_failed(shard); }
  /// Whether most of our shards fail.
  bool is_troubled() const;
  /// Why we ask for no shards; empty: we do ask.
  const std::string& lowered() const noexcept { return lowered_; }
  /// When `look` has something to do.
  time_point due() const noexcept { return lowered_.empty() ? never : lowered_until_; }
  std::uint64_t good_signs() const noexcept { return good_signs_; }
  condition& changed() noexcept { return changed_; }
  /// While we are in trouble one shard tries often, for all.
  risk_turn& probe() noexcept { return probe_; }

 private:
  void lower(const std::string& what);

  const shard_group_options& options_;
  scheduler_ptr on_;
  condition changed_;  // a good sign, or another lowering
  risk_turn probe_;
  std::map<std::uint32_t, bool> has_failed_;  // since its last progress; by shard
  time_point troubled_since_ = never;
  std::string lowered_;
  time_point lowered_until_ = never;
  bool is_on_probation_ = false;
  std::chrono::milliseconds last_rest_{0};
  std::optional<std::uint32_t> sign_of_;  // the shard whose sign has ended a lowering
  bool is_deceived_ = false;              // it has failed without progress: until there is some no sign ends one
  std::uint64_t good_signs_ = 0;
};

}  // namespace zkrecipes::detail
