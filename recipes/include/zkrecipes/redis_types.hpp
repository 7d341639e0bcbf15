// What Redis streams tell of themselves, and places in them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace zkrecipes {

/// What a group has still to consume of a stream.
struct redis_lag {
  std::uint32_t shard = 0;
  /// Entries behind the position, with those that were settled ahead of others. 10 000 at most are counted.
  std::uint64_t messages = 0;
  bool is_more = false;  ///< There are more of them.
  /// For how long the first of them has been there, by the clock of the broker and that of this machine.
  std::chrono::milliseconds oldest{0};
};

/// A place in a stream, where a group is to go on.
class redis_position {
 public:
  /// In front of all that is kept.
  static redis_position begin() { return {kind::begin, {}}; }
  /// Behind all that was ever put.
  static redis_position end() { return {kind::end, {}}; }
  /// In front of the entry with this id (`message::name`), or of the first one behind it.
  static redis_position at(std::string id) { return {kind::at, std::move(id)}; }

  enum class kind { begin, end, at };
  kind what() const noexcept { return what_; }
  const std::string& id() const noexcept { return id_; }

 private:
  redis_position(kind what, std::string id) : what_(what), id_(std::move(id)) {}

  kind what_;
  std::string id_;
};

}  // namespace zkrecipes
