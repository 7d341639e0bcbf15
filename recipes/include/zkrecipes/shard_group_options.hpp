// Settings of a member of a shard group.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes {

/// Settings of a `shard_group`. Those of planning count while this member is the planner, so all members should have
/// the same.
struct shard_group_options {
  /// Our name. It stays the same over restarts, and no other member has it at the same time. 1 to 256 bytes, no control
  /// characters.
  std::string id{};
  /// The number of shards, the same for all members: else `size_mismatch`. 1 to 10 000.
  std::uint32_t shards = 1;
  /// Our share of the shards is this number divided by the sum over all members. 0.001 to 1 000, in steps of 0.001.
  double capacity = 1;
  /// Shown to routers, such as the address of this process. At most 1 000 bytes.
  std::string data{};
  /// For how long our shards wait for us after `stop`, because we may be starting again under the same id. Unset: the
  /// session's timeout. 0: they are given to others at once. Up to 24 h.
  std::optional<std::chrono::milliseconds> grace{};

  /// Planning: for how long the planner waits for others after a member has joined. 0 to 60 s.
  std::chrono::milliseconds collect{200};
  /// Planning: the largest part of all shards that are on the way from one member to another at a time; at least one
  /// shard. Above 0, up to 1.
  double max_moves = 0.1;
  /// A shard is put in quarantine instead of beginning a term when so many terms in a row have ended by the death of
  /// the process, a stall or an exception without progress in between, at two members or more; three times as many if
  /// all were of one member. At most one counts in each `calm`, and those of a member most of whose shards fail do not
  /// count. A quarantine ends by itself after 12 times `calm`, with one term on probation; each that follows lasts
  /// twice as long, up to ten minutes. 0: never; 1: one process that dies puts all shards that it owned there. Up to 1
  /// 000.
  std::int32_t quarantine_after = 3;
  /// A term has made progress when it has committed, or executed for this long. With `quarantine_after` of 2 or more a
  /// member begins the shards that the next death would put in quarantine one after the other: the next when the one
  /// before has committed, has executed for a tenth of this, or has begun this long ago. 0 to 24 h.
  std::chrono::milliseconds calm{10'000};
};

}  // namespace zkrecipes
