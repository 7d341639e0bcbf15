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
#include "shards/risk_turn.hpp"

namespace zkrecipes::detail {

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
