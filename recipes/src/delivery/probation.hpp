// Finds the message that kills its process. Nothing is written for it on the good path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <zkrecipes/queue_types.hpp>

#include "election/consumer_notes.hpp"

namespace zkrecipes::detail {

/// When two terms in a row have begun because the process of the term before had died, messages are taken one at a
/// time, and each is named in the term's record before it is begun, until a window's worth of them has been settled. A
/// message that is tried again is always named. If the process dies, its successor finds the name, and counts a failed
/// attempt of that message.
class probation {
 public:
  using names = std::set<std::string>;

  /// `notes`: of the term's record as the term began. `length`: how many messages are taken one at a time.
  probation(const consumer_notes& notes, std::size_t length);

  /// Whether messages are taken one at a time.
  bool is_on() const noexcept { return left_ > 0; }
  /// Whether an earlier process died while it had this message in hand. That counts as a failed attempt.
  bool is_suspect(const std::string& name) const { return suspects_.contains(name); }
  std::vector<std::string> suspects() const { return {suspects_.begin(), suspects_.end()}; }
  bool must_be_named(const message& what) const { return is_on() || what.attempts > 1; }
  /// Whether the record names it.
  bool is_named(const std::string& name) const { return written_.contains(name); }
  /// The next write names it, because it is to be begun next. Another one that was announced comes later then.
  void announce(const std::string& name) { announced_ = name; }
  /// It is begun, and no other is about to be.
  void begun(const std::string& name);
  /// It is not in hand any more, although it is not settled.
  void put_back(const std::string& name) { in_hand_.erase(name); }
  /// The message is done, parked, or its attempt is counted.
  void settled(const std::string& name);

  /// Whether the record names other messages than it should.
  bool wants_write() const { return present({}) != written_; }
  /// What to write together with the settlement of these messages.
  consumer_notes notes_with(const names& settled) const;
  void written(const consumer_notes& notes);

 private:
  names present(const names& settled) const;

  std::int32_t crashes_;
  std::size_t left_;
  names suspects_;
  names written_;          // what the record names
  names in_hand_;          // of these, what was begun
  std::string announced_;  // to be begun next
};

}  // namespace zkrecipes::detail
