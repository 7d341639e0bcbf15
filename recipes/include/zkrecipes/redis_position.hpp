// A place in a Redis stream.
#pragma once

#include <string>
#include <utility>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes {

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
