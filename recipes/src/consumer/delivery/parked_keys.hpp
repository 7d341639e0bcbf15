// The keys whose messages are parked: `spent_message::park_key`.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/queue_consumer.hpp>

#include "delivery/message_source.hpp"

namespace zkrecipes::detail {

/// Only the consumer of the present term parks a key, so it knows of each mark. That an operator has begun or ended a
/// revival is found out when the mark refuses the next message of the key. Marks are obeyed also where the options say
/// `park`: an earlier consumer may have had others.
class parked_keys {
 public:
  explicit parked_keys(const queue_consumer_options& options)
      : is_used_(options.order == message_order::by_key && options.delivery != delivery_guarantee::at_most_once),
        parks_(options.spent == spent_message::park_key) {}

  /// Whether a message that is parked parks its key.
  bool parks() const noexcept { return parks_; }
  /// Reads the marks, the first time.
  awaitable<error_code> prepare(key_marks& from);
  /// Reads the marks of these keys again.
  awaitable<outcome<std::vector<key_state>>> look(key_marks& from, std::vector<std::string> keys);

  bool has(const std::string& key) const;
  void add(const std::string& key);
  /// Keys that were revived. What was received of them has to come again, behind what was put back.
  bool has_revived() const noexcept { return !revived_.empty(); }
  std::set<std::string> take_revived() { return std::exchange(revived_, {}); }

 private:
  bool is_used_;
  bool parks_;
  bool is_prepared_ = false;
  std::set<std::string> marks_;
  std::set<std::string> revived_;
};

}  // namespace zkrecipes::detail
