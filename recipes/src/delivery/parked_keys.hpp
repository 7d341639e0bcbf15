// The keys whose messages are parked: `spent_message::park_key`.
#pragma once

#include <set>
#include <string>

#include "delivery/message_source.hpp"

namespace zkrecipes::detail {

/// Only the consumer of the present term parks a key, so it knows of each mark. That an operator has begun or ended a
/// revival is found out when the mark refuses the next message of the key.
class parked_keys {
 public:
  /// Without `is_used` no key is ever parked.
  explicit parked_keys(bool is_used) : is_used_(is_used) {}

  bool is_used() const noexcept { return is_used_; }
  /// Reads the marks, the first time.
  awaitable<error_code> prepare(message_source& from);
  /// Reads the mark of a key again.
  awaitable<outcome<key_state>> look(message_source& from, std::string key);

  bool has(const std::string& key) const;
  void add(const std::string& key);
  /// Keys that were revived. What was received of them has to come again, behind what was put back.
  bool has_revived() const noexcept { return !revived_.empty(); }
  std::set<std::string> take_revived() { return std::exchange(revived_, {}); }

 private:
  bool is_used_;
  bool is_prepared_ = false;
  std::set<std::string> marks_;
  std::set<std::string> revived_;
};

}  // namespace zkrecipes::detail
