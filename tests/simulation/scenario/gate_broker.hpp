// A source of messages beside ZooKeeper, whose consumers share a gate.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include <zkrecipes/flow/shared_gate.hpp>

#include "run/stage.hpp"
#include "world/chance.hpp"

namespace zkrecipes::simulation {

/// Hands messages out, to any consumer, and hands out again those whose consumer died, gave them back, or lost its
/// connection to the broker. The rule: a message that was settled unprocessed is covered by another one of its key,
/// which is not settled, and not in a processing that began before the declined call. So a later processing is sure.
class gate_broker {
 public:
  static constexpr std::uint64_t keys = 2;
  using stamp = std::int64_t;  ///< The order of all that happens.

  struct delivery {
    int message = 0;
    int number = 0;  ///< The number of this delivery: a later one takes the message from this consumer.
    std::uint64_t key = 0;
    arrival how = arrival::first;
    stamp called = 0;
    stamp begun = 0;
  };

  gate_broker(stage& in, std::uint64_t stream) : in_(in), chance_(in.what().seed, stream) {}

  delivery take(int client);
  void begins(delivery& which);
  void settle_declined(const delivery& which);
  /// A node stands, since now or until now, that was made too late, by a process that is dead or by a call that was
  /// cancelled: its message may be in a processing that has begun, or be settled. This is the limit of the promise, so
  /// nothing is owed for calls that were made before and are declined later.
  void excuse() { excused_ = ++last_; }
  void settle_done(const delivery& which) { settle(which); }
  void give_back(const delivery& which);
  /// The process of this client has died.
  void lose(int client);
  /// The effects of a processing were committed.
  void processed(std::uint64_t key, stamp begun);
  /// All faults are over. The processings that are owed now have to be done within the bound of the run.
  void healed() { healed_ = last_; }
  bool has_paid() const;

 private:
  static constexpr int nobody = -1;
  struct message {
    std::uint64_t key = 0;
    int deliveries = 0;
    int consumer = nobody;
    stamp begun = 0;  // of the present delivery; 0: it waits
  };
  bool is_present(const delivery& which) const;
  bool settle(const delivery& which);
  void check_covered(std::uint64_t key) const;
  int pick();

  stage& in_;
  chance chance_;
  stamp last_ = 0;
  stamp healed_ = 0;
  stamp excused_ = 0;
  int made_ = 0;
  std::map<int, message> unsettled_;
  std::array<stamp, keys> processed_{};       // the latest begin of one whose effects were committed
  std::multimap<std::uint64_t, stamp> owed_;  // by key: when the declined calls were made
};

}  // namespace zkrecipes::simulation
