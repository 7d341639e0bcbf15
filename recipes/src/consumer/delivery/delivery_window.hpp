// The messages of a term between receipt and settlement: which of them may be begun, and which may be committed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <string>
#include <vector>

#include <zkrecipes/consumer/queue_consumer.hpp>

#include "delivery/message_data.hpp"
#include "delivery/message_in_hand.hpp"
#include "delivery/message_lanes.hpp"
#include "delivery/message_stages.hpp"

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
