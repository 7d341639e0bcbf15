// The messages of a term between receipt and settlement: which of them may be begun, and which may be committed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/container/deque.hpp>
#include <boost/container/flat_set.hpp>

#include <zkrecipes/consumer/message_outcome.hpp>
#include <zkrecipes/consumer/queue_consumer.hpp>
#include <zkrecipes/queue_base.hpp>

#include "session/condition.hpp"

namespace zkrecipes::detail {

/// How much of a message its dead letter keeps, if the whole is too large for a request.
/// Each time the letter is refused as too large it is made smaller. First the reason is left out. Then, if the message
/// may be cut, the reason is back, and half a request is for the data, a quarter, and so on, because what else the
/// transaction has, such as a position, can take nearly all of it. At last nothing is left of the data, and the reason
/// is left out again.
struct letter_bounds {
  bool has_reason = true;
  std::optional<std::size_t> most_data{};  ///< See `settlement`.

  /// `is_told`: the letter that was refused has a reason. `may_cut`: see `message_source::traits`. `longest`: bytes of
  /// a request. False: there is no smaller letter.
  bool shrink(bool is_told, bool may_cut, std::size_t longest) noexcept {
    const bool has_data = !most_data || *most_data > 0;
    if (is_told && (!most_data || !has_data)) {
      has_reason = false;
      return true;
    }
    if (!may_cut || !has_data) return false;
    has_reason = true;
    most_data = most_data.value_or(longest) / 2;
    return true;
  }
};

/// A message between its receipt and its settlement.
struct message_in_hand {
  enum class stage {
    waiting,     ///< It was received, or its next attempt is due.
    working,     ///< `process` runs.
    finished,    ///< `process` has ended, or the message is declined. The next commit takes it along.
    committing,  ///< It is part of the commit in flight.
    resting,     ///< It waits for its next attempt.
  };

  std::uint64_t number = 0;             ///< In the order of receipt.
  std::shared_ptr<const message> what;  ///< A call of `process` may outlive the place in the window.
  std::string lane;
  stage at = stage::waiting;
  bool is_loaded = true;                ///< Its data is here. Else it has to be read again before it is begun.
  bool is_removed = false;              ///< It was removed from its source already (at most once).
  bool takes_part = false;              ///< In duplicate suppression.
  bool is_declined = false;             ///< Another message of its key does its work. It is in no lane.
  bool is_repeat = false;               ///< Its number was processed before: it is settled without effects.
  bool parks_alone = false;             ///< Its key can not be told, so it is parked without one.
  bool is_void = false;                 ///< The present call of `process` began too early: its outcome does not count.
  bool is_at_fault = false;             ///< Others have succeeded between its last two attempts that failed.
  bool has_waited = false;              ///< For the limit, before it was begun.
  std::optional<std::uint64_t> cost{};  ///< See `message_limit::cost`. Nothing: it was not asked for yet.
  std::optional<message_origin> origin{};  ///< With `message_repeats`, once the message is next.
  message_outcome outcome{};
  letter_bounds letter{};  ///< How much the letter of this attempt may have.
  lease_clock::time_point received{};
  lease_clock::time_point begun{};
  lease_clock::time_point rests_until{};
  lease_clock::time_point failed{};       ///< When its last attempt in this term has failed, counted or not.
  lease_clock::time_point counts_from{};  ///< A failed attempt before this does not count.
  std::int64_t first_failed = 0;          ///< See `dead_letter`. 0: no attempt was counted in this term.

  bool is_begun() const noexcept {
    return !is_declined && (at == stage::working || at == stage::finished || at == stage::committing);
  }
};

/// Whether the messages behind one with this outcome may be begun, in strict order.
inline bool lets_pass(const message_outcome& outcome) {
  return outcome.what() == message_outcome::kind::done || outcome.what() == message_outcome::kind::park;
}

/// By number.
using message_table = std::pmr::map<std::uint64_t, message_in_hand>;
/// Numbers come and go in about their order, so a flat list of them takes no memory, and moves little.
using message_numbers =
    boost::container::flat_set<std::uint64_t, std::less<std::uint64_t>, boost::container::deque<std::uint64_t>>;

/// Null if it has gone.
inline const message_in_hand* find_message(const message_table& all, std::uint64_t number) {
  const auto found = all.find(number);
  return found == all.end() ? nullptr : &found->second;
}

// Which messages of a window are in which stage.

class message_stages {
 public:
  using stage = message_in_hand::stage;
  using timed_messages = std::pmr::set<std::pair<lease_clock::time_point, std::uint64_t>>;

  message_stages(bool is_strict, std::pmr::memory_resource* memory)
      : is_strict_(is_strict), working_(memory), resting_(memory) {}

  /// Adds a message that waits.
  void add(const message_in_hand& which);
  void set(message_in_hand& which, stage at);
  void remove(const message_in_hand& which);

  std::size_t count(stage at) const noexcept { return counts_[static_cast<std::size_t>(at)]; }
  std::size_t working_count() const noexcept { return working_.size(); }
  /// The number of messages that are processed, or have been and are not committed.
  std::size_t begun_count() const noexcept { return begun_; }
  /// When the next rest ends; `never` if no message rests.
  lease_clock::time_point next_time() const { return resting_.empty() ? never : resting_.begin()->first; }
  /// The number of the message whose rest ends next, if it has ended; else 0.
  std::uint64_t rested(lease_clock::time_point now) const {
    return next_time() <= now && !resting_.empty() ? resting_.begin()->second : 0;
  }
  /// The messages that are processed, by when their calls of `process` were begun.
  const timed_messages& working() const noexcept { return working_; }
  /// When the call that runs for the longest time was begun; `never` if none runs.
  lease_clock::time_point working_since() const { return working_.empty() ? never : working_.begin()->first; }
  /// The finished messages, by their numbers.
  const message_numbers& finished() const noexcept { return finished_; }
  /// Whether the first finished message is not behind one of the strict lane that is not processed.
  bool has_finished() const;
  /// In strict order: the messages that wait, are worked on, or rest.
  const message_numbers& unprocessed() const noexcept { return unprocessed_; }
  /// In strict order: whether one in front of this one is processed, and bars what comes behind it.
  bool is_barred(std::uint64_t number) const { return !barring_.empty() && *barring_.begin() < number; }

 private:
  void leave(const message_in_hand& which);
  void track_processed(const message_in_hand& which, bool was_processed);

  bool is_strict_;
  message_numbers finished_;
  message_numbers unprocessed_;
  message_numbers barring_;
  timed_messages working_;
  timed_messages resting_;  // by when their rest ends
  std::array<std::size_t, 5> counts_{};
  std::size_t begun_ = 0;
};

// The lanes of a window: which message of each may be begun next.

class message_lanes {
 public:
  using members = std::pmr::set<std::uint64_t>;

  /// Both outlive it. `is_strict`: all messages are in one lane.
  message_lanes(const message_table& all, const message_stages& stages, bool is_strict,
                std::pmr::memory_resource* memory)
      : all_(all), stages_(stages), is_strict_(is_strict), lanes_(memory), ready_of_(memory) {}

  /// Behind the others of its lane.
  void add(const message_in_hand& which);
  /// Does nothing if it is in none.
  void remove(const message_in_hand& which);
  /// Finds out which message of a lane may be begun next.
  void review(const std::string& lane);

  const members& of(const std::string& lane) const { return lanes_.at(lane); }
  /// The number of its first message; 0: there is no such lane.
  std::uint64_t first_of(const std::string& lane) const;
  bool is_resting(const std::string& lane) const;
  /// At most one of each lane: the next one that may be begun.
  const message_numbers& ready() const noexcept { return ready_; }
  /// How many messages wait behind others.
  std::size_t held_back() const noexcept { return stages_.count(message_in_hand::stage::waiting) - ready_.size(); }

 private:
  std::uint64_t candidate(const std::string& lane) const;

  const message_table& all_;
  const message_stages& stages_;
  bool is_strict_;
  std::pmr::map<std::string, members> lanes_;
  message_numbers ready_;
  std::pmr::map<std::string, std::uint64_t> ready_of_;  // by lane
};

// The data of a window's messages: whose is here, and whose is to be read again.

class message_data {
 public:
  explicit message_data(message_table& all) : all_(all) {}  // which outlives it

  /// A message was added, with its data.
  void add() noexcept { ++here_; }
  void remove(const message_in_hand& which);
  void load(message_in_hand& which, message what);
  void unload(message_in_hand& which);
  /// Drops the data of all of these that wait, so that they take no room while their lane rests.
  void unload_waiting(const message_lanes::members& lane);
  /// Those that were unloaded are to be read again.
  void want(const message_lanes::members& lane);
  void unwant(const message_in_hand& which) { wanted_.erase(which.number); }

  std::size_t count() const noexcept { return here_; }
  /// The numbers of those that are to be read again.
  const message_numbers& wanted() const noexcept { return wanted_; }

 private:
  message_table& all_;
  message_numbers wanted_;
  std::size_t here_ = 0;
};

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
  const message_table& all() const noexcept { return all_; }
  message_in_hand& at(std::uint64_t number) { return all_.at(number); }
  const message_stages& stages() const noexcept { return stages_; }
  const message_lanes& lanes() const noexcept { return lanes_; }
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
  /// `process` has ended. Says whether its outcome counts: else the message waits again.
  bool finish(message_in_hand& which, message_outcome outcome);
  /// The message is not to be processed before it is committed, because what becomes of it is known.
  void decide(message_in_hand& which, message_outcome outcome);

  /// The finished messages that the next commit takes along, in order, and only up to the first one of the strict lane
  /// that is not finished.
  entries finished();
  /// The message is part of the commit in flight; or the commit was not done, and the message is finished as before.
  void set_committing(message_in_hand& which, bool is_so);
  /// The effects of the message were refused. Messages behind it in its lane that were processed already are processed
  /// again, because they must not be committed before it. Returns those that wait again.
  entries refuse(message_in_hand& which, message_outcome instead);
  /// The message is processed again from the beginning, at once.
  void restart(message_in_hand& which);
  void rest(message_in_hand& which, lease_clock::time_point until);
  /// The message has been settled, or has gone from its source.
  void remove(message_in_hand& which);

  /// The numbers of those for whose end another message of their lane waits, from the oldest.
  std::vector<std::uint64_t> waited_for() const;

 private:
  void set(message_in_hand& which, stage at);
  std::size_t places() const;
  void decline_duplicates(const std::string& lane);

  limits how_;
  std::pmr::unsynchronized_pool_resource memory_;  // a message enters and leaves half a dozen of these lists
  message_table all_;
  message_stages stages_;
  message_lanes lanes_;
  message_data data_;
  std::uint64_t last_number_ = 0;
};

/// Forgets declined messages that no commit has taken along: they are not settled. Returns their names.
std::vector<std::string> drop_declined(delivery_window& from);
/// None of the lane is begun. Removes all of it, and returns the names.
std::vector<std::string> drop_lane(delivery_window& from, const std::string& lane);
/// Nothing is being processed or committed. Removes all messages, and returns their names.
std::vector<std::string> drop_all(delivery_window& from);
/// Messages that were removed from their source, and whose processing has not ended. This looks at all messages, as it
/// is needed only at the end.
std::size_t count_removed(const message_table& all);

}  // namespace zkrecipes::detail
