// The messages of a term between receipt and settlement: which of them may be begun, and which may be committed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/container/deque.hpp>
#include <boost/container/flat_set.hpp>

#include <zkrecipes/consumer/queue_consumer.hpp>

#include "delivery/message_in_hand.hpp"

namespace zkrecipes::detail {

/// Messages form lanes: one for all messages in strict order, one for each key, or one for each message. A lane holds
/// back what comes behind a message that is not done. The strict lane goes on when a message is processed, up to the
/// window, and its batches keep the order; any other lane goes on when the message is committed.
///
/// With `limits::keep` a lane by key is also a key of duplicate suppression: its first message is being processed, or
/// is the next to be, one more waits, and what comes besides is declined.
///
/// It needs no session. References to messages hold until they are settled.
class delivery_window {
 public:
  using stage = message_in_hand::stage;
  using entries = std::vector<message_in_hand*>;

  struct limits {
    message_order order = message_order::strict;
    std::size_t window = 1;
    std::size_t parallel = 1;
    bool may_unload = false;  ///< Data of messages that are held back for long can be dropped and read again.
    std::optional<zkrecipes::keep> keep{};  ///< By key only: duplicates are declined, and this one waits.
  };

  explicit delivery_window(limits how);

  /// From now on at most so many messages are begun and not committed, and so many processed at the same time.
  void resize(std::size_t window, std::size_t parallel);
  message_in_hand& at(std::uint64_t number) { return all_.at(number); }
  const message_in_hand& at(std::uint64_t number) const { return all_.at(number); }
  /// Null if it has gone.
  const message_in_hand* find(std::uint64_t number) const {
    const auto found = all_.find(number);
    return found == all_.end() ? nullptr : &found->second;
  }
  /// The message with this number if it waits to be begun; else null.
  message_in_hand* find_waiting(std::uint64_t number);

  /// How many more messages may be received.
  std::size_t room() const;
  /// `is_sound`: false for a message that will not be processed. It has no part in duplicate suppression.
  void add(message what, std::string lane, lease_clock::time_point now, bool is_sound = true);

  /// Messages that may be begun, or will be soon, whose data has to be read again: as many as there is room for.
  entries missing();
  void load(message_in_hand& which, message what);

  /// The next message that may be begun, in order of receipt, or the last one; null if there is none.
  message_in_hand* next(lease_clock::time_point now, bool is_last = false);
  void begin(message_in_hand& which, lease_clock::time_point now);
  /// In strict order: the messages right behind this one, which has been begun, that wait to be begun, as many as there
  /// is room for, and at most so many.
  entries behind(const message_in_hand& which, std::size_t most);
  /// Whether the messages behind one with this outcome may be begun, in strict order.
  static bool lets_pass(const message_outcome& outcome);
  /// `process` has ended. Says whether its outcome counts: else the message waits again.
  bool finish(message_in_hand& which, message_outcome outcome);
  /// The message is not to be processed before it is committed, because what becomes of it is known.
  void decide(message_in_hand& which, message_outcome outcome);

  /// The finished messages that the next commit takes along, in order, and only up to the first one of the strict lane
  /// that is not finished.
  entries finished();
  /// Whether `finished` would find any.
  bool has_finished() const;
  void commit(message_in_hand& which);
  /// The commit was not done: the message is finished as before.
  void uncommit(message_in_hand& which);
  /// Its effects were refused. What was processed behind it in its lane is processed again, because it must not be
  /// committed before it: returns what waits again.
  entries refuse(message_in_hand& which, message_outcome instead);
  /// It is processed again from the beginning, at once.
  void restart(message_in_hand& which);
  void rest(message_in_hand& which, lease_clock::time_point until);
  /// It has been settled, or has gone.
  void remove(message_in_hand& which);

  /// Forgets declined messages that no commit has taken along: they are not settled. Returns their names.
  std::vector<std::string> drop_declined();
  /// None of the lane is begun. Removes all of it, and returns the names.
  std::vector<std::string> drop_lane(const std::string& lane);

  /// Nothing is being processed or committed. Removes all messages, and returns their names.
  std::vector<std::string> drop_all();

  /// When the next rest ends; `never` if no message rests.
  lease_clock::time_point next_time() const;
  /// When the call of `process` that runs for the longest time was begun; `never` if none runs.
  lease_clock::time_point working_since() const;
  entries working();
  /// The numbers of those for whose end another message of their lane waits, from the oldest.
  std::vector<std::uint64_t> waited_for() const;

  bool empty() const noexcept { return all_.empty(); }
  std::size_t size() const noexcept { return all_.size(); }
  std::size_t count(stage at) const noexcept { return counts_[static_cast<std::size_t>(at)]; }
  std::size_t working_count() const noexcept { return working_.size(); }
  /// Those that are processed, or have been and are not committed.
  std::size_t begun_count() const noexcept { return begun_; }
  /// How many could be begun if there were room and credit.
  std::size_t ready_count() const noexcept { return ready_.size(); }
  std::size_t held_back() const noexcept { return count(stage::waiting) - ready_.size(); }
  /// Messages that were removed from their source, and whose processing has not ended. This looks at all messages, as
  /// it is needed only at the end.
  std::size_t count_removed() const;
  /// The first message; null if there is none.
  const message_in_hand* oldest() const;

 private:
  using lane_members = std::pmr::set<std::uint64_t>;
  /// Numbers come and go in about their order, so a flat list of them takes no memory, and moves little.
  using numbers =
      boost::container::flat_set<std::uint64_t, std::less<std::uint64_t>, boost::container::deque<std::uint64_t>>;
  using timed_messages = std::pmr::set<std::pair<lease_clock::time_point, std::uint64_t>>;

  bool is_strict() const noexcept { return how_.order == message_order::strict; }
  void set(message_in_hand& which, stage at);
  void leave(message_in_hand& which);
  void note_progress(const message_in_hand& which, bool was_processed);
  std::size_t& count_of(stage at) noexcept { return counts_[static_cast<std::size_t>(at)]; }
  void review(const std::string& lane);
  std::uint64_t candidate(const lane_members& members) const;
  bool is_resting(const std::string& lane) const;
  std::size_t places() const;
  void decline_duplicates(const std::string& lane);
  void decline(message_in_hand& which);
  void unload_lane(const std::string& lane);
  void unload(message_in_hand& which);
  void want_lane(const std::string& lane);

  limits how_;
  std::pmr::unsynchronized_pool_resource memory_;      // a message enters and leaves half a dozen of these lists
  std::pmr::map<std::uint64_t, message_in_hand> all_;  // by number
  std::pmr::map<std::string, lane_members> lanes_;
  numbers ready_;  // at most one of each lane: the next one that may be begun
  numbers finished_;
  numbers unprocessed_;     // in strict order: those that wait, are worked on, or rest
  numbers barring_;         // in strict order: processed, and nothing behind them may be begun
  timed_messages working_;  // by when they were begun
  timed_messages resting_;  // by when their rest ends
  numbers missing_;         // to be read again: those that were unloaded, in lanes that go on
  std::pmr::map<std::string, std::uint64_t> ready_of_;  // by lane
  std::uint64_t last_number_ = 0;
  std::array<std::size_t, 5> counts_{};  // by stage
  std::size_t begun_ = 0;
  std::size_t loaded_ = 0;
};

}  // namespace zkrecipes::detail
