// A place in a shard of a topic.
#pragma once

#include <cstdint>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes {

/// A place in a shard of a topic, where a group is to go on.
class topic_position {
 public:
  /// In front of all that is kept.
  static topic_position begin() noexcept { return {kind::begin, 0, 0}; }
  /// Behind all that is there.
  static topic_position end() noexcept { return {kind::end, 0, 0}; }
  /// In front of a message: that with the name "<batch>.<index>" (`message::name`). If it is not kept any more, in
  /// front of what comes behind it.
  static topic_position at(std::int32_t batch, std::uint32_t index = 0) noexcept { return {kind::at, batch, index}; }

  enum class kind { begin, end, at };
  kind what() const noexcept { return what_; }
  std::int32_t batch() const noexcept { return batch_; }
  std::uint32_t index() const noexcept { return index_; }

 private:
  topic_position(kind what, std::int32_t batch, std::uint32_t index) noexcept
      : what_(what), batch_(batch), index_(index) {}

  kind what_;
  std::int32_t batch_;
  std::uint32_t index_;
};

}  // namespace zkrecipes
