// Finds the message that kills its process. Nothing is written for it on the good path.
#pragma once

#include <cstddef>
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
  /// `notes`: of the term's record as the term began. `length`: how many messages are taken one at a time.
  probation(const consumer_notes& notes, std::size_t length);

  /// Whether messages are taken one at a time.
  bool is_on() const noexcept { return left_ > 0; }
  /// Whether an earlier process died while it had this message in hand. That counts as a failed attempt.
  bool is_suspect(const std::string& name) const { return suspects_.contains(name); }
  bool must_be_named(const message& what) const { return is_on() || what.attempts > 1; }
  bool is_named(const std::string& name) const { return named_.contains(name); }
  /// The next write names it.
  void name(const std::string& name) { wanted_.insert(name); }

  /// Whether there is something to write besides figures.
  bool wants_write() const noexcept { return !wanted_.empty() || is_stale_; }
  /// What to write together with the settlement of these messages.
  consumer_notes notes_with(const std::set<std::string>& settled) const;
  void written(const consumer_notes& notes);
  /// The message is done, parked, or its attempt is counted.
  void settled(const std::string& name);

 private:
  std::int32_t crashes_;
  std::size_t left_;
  bool is_stale_ = false;  // the record says more than is true
  std::set<std::string> suspects_;
  std::set<std::string> named_;
  std::set<std::string> wanted_;
};

}  // namespace zkrecipes::detail
