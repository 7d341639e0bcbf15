// The ids of the messages of a user's queue that were settled last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "external/delivery_memory.hpp"
#include "external/held_messages.hpp"

namespace zkrecipes::detail {

/// A memory with bounds: the id that was settled first is forgotten first. It does no I/O.
class remembered_ids {
 public:
  /// `most`: ids.
  explicit remembered_ids(std::size_t most) : most_(most) {}

  /// Goes on from a record. False: it is none.
  bool load(std::string_view record);
  std::string record() const { return serialize(memory_); }

  bool knows(const std::string& id) const { return memory_.knows(id); }
  void settle(const std::string& id);
  /// It can not come again.
  void forget(const std::string& id);
  /// One that has failed and never comes again would be counted for ever. If no more can be counted, the oldest of
  /// those that are not held is forgotten.
  void fail(const std::string& id, std::int64_t since, const held_messages& held);
  failed_attempts failed(const std::string& id) const { return memory_.failed(id); }

 private:
  void forget_oldest();

  std::size_t most_;
  delivery_memory memory_;
  std::deque<std::string> order_;  // of those that are remembered
  std::size_t bytes_ = 0;          // what they take in the record
};

}  // namespace zkrecipes::detail
