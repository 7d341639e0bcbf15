// Finds the message that kills its process. Nothing is written for it on the good path.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/queue_base.hpp>

#include "delivery/message_source.hpp"
#include "notes/consumer_notes.hpp"

namespace zkrecipes::detail {

/// When two terms in a row have begun because the process of the term before had died, messages are taken one at a
/// time, and each is named in the term's record before it is begun, until a window's worth of them has been settled. A
/// message that is tried again is always named. Each further death makes the search twice as long, because messages in
/// front of the one that kills can use it up, such as those of a higher priority. If the process dies, its successor
/// finds the name, and counts a failed attempt of that message.
class probation {
 public:
  using names = std::set<std::string, std::less<>>;

  /// A source of the user's can not tell which messages have gone, and their names would stay in the record for ever.
  /// If there are more, those are forgotten that were named first.
  static constexpr std::size_t most_suspects = 1'000;

  /// `notes`: of the term's record as the term began. `length`: how many messages the first search takes one at a time.
  probation(const consumer_notes& notes, std::size_t length);

  /// Forgets the names of messages that have gone, as far as the source knows that by now. It is asked to read them
  /// once.
  awaitable<error_code> prepare(message_source& from);
  /// Whether messages are taken one at a time.
  bool is_on() const noexcept { return left_ > 0; }
  /// Whether an earlier process died while it had this message in hand. That counts as a failed attempt.
  bool is_suspect(const std::string& name) const { return std::ranges::find(suspects_, name) != suspects_.end(); }
  /// From the one that was named first on.
  const std::vector<std::string>& suspects() const noexcept { return suspects_; }
  /// The messages that were named and begun, and are not settled.
  std::vector<std::string> in_hand() const { return {in_hand_.begin(), in_hand_.end()}; }
  bool must_be_named(const message& what) const { return is_on() || what.attempts > 1; }
  /// Whether the record names this message.
  bool is_named(const std::string& name) const { return written_.contains(name); }
  /// The next write names this message, because it is to be begun next. Another one that was announced before is begun
  /// later.
  void announce(const std::string& name) { announced_ = name; }
  /// Nothing is about to be begun.
  void retract() { announced_.clear(); }
  /// The message is begun, and no other one is about to be.
  void begun(const std::string& name);
  /// The message is not in hand any more, although it is not settled.
  void put_back(const std::string& name) { in_hand_.erase(name); }
  /// The message is done, parked, or its attempt is counted.
  void settled(const std::string& name);

  /// The message was acknowledged without being tried, so it proves nothing in the search.
  void forget(const std::string& name);

  /// Whether the record names other messages than it should.
  bool wants_write() const { return present({}) != written_; }
  /// The notes to be written together with the settlement of these messages.
  consumer_notes notes_with(const std::vector<std::string_view>& settled) const;
  bool is_written(const consumer_notes& notes) const { return names_of(notes) == written_; }
  void written(const consumer_notes& notes) { written_ = names_of(notes); }

 private:
  static names names_of(const consumer_notes& notes) { return {notes.in_hand.begin(), notes.in_hand.end()}; }
  names present(const std::vector<std::string_view>& settled) const;

  std::int32_t crashes_;
  std::size_t left_;
  bool is_prepared_ = false;
  std::vector<std::string> suspects_;
  names written_;          // what the record names
  names in_hand_;          // of these, what was begun
  std::string announced_;  // to be begun next
};

}  // namespace zkrecipes::detail
