// The limits beyond which something counts as a problem.
#pragma once

#include <chrono>
#include <cstdint>

namespace zkadmin {

/// Each is a setting of the same name, with these defaults. Ages are by this machine's clock against the servers'.
struct problem_limits {
  /// A leader that was asked to give up begins to within some round trips.
  std::chrono::milliseconds resignation_limit{10'000};
  /// For how long a hand-over may be past its deadline. The deadline is when the successor goes on by force, which
  /// takes some round trips; and the clocks of this machine and of the servers may differ by as much.
  std::chrono::milliseconds hand_over_limit{1'000};
  /// For how long nobody may lead although a candidate is in line. A candidate begins its term within some round trips.
  std::chrono::milliseconds takeover_limit{30'000};
  /// For how long a shard may wait for the member that is to own it: its last owner's message in hand and hand-over.
  std::chrono::milliseconds move_limit{120'000};
  /// How old a message may become before it is consumed.
  std::chrono::milliseconds message_limit{300'000};
  /// How long a transaction may be undecided. Coordinators abort after 30 s by default.
  std::chrono::milliseconds transaction_limit{120'000};
  /// For how long more permits of a semaphore may be taken than there are, after it was resized to fewer.
  std::chrono::milliseconds permit_limit{300'000};
  /// How many transactions a server may be behind the leader. The servers are asked one after the other, so those that
  /// the ensemble commits between two answers seem to be missing.
  std::int64_t zxid_limit = 10'000;
};

}  // namespace zkadmin
