// Which numbers of each producer were processed: `message_repeats`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/consumer/queue_consumer.hpp>

#include "format/json_object.hpp"

namespace zkrecipes::detail {

/// The mark of a producer is the set of its numbers that were processed, as ranges. A number that was not noted is not
/// in it, so whatever was parked, skipped or deleted is processed when it comes. If there are too many ranges the
/// lowest is dropped: its numbers are processed again, and none is lost.
class producer_marks {
 public:
  static constexpr std::size_t longest_name = 255;
  static constexpr std::size_t most_gaps = 64;  ///< Between the ranges of a producer.
  static constexpr std::size_t most_bytes = 32 * 1024;

  /// Nothing if it is not a record of this kind.
  static std::optional<producer_marks> parse(std::string_view text);
  std::string to_text() const;

  bool has_processed(const message_origin& which) const;
  void record_processed(const message_origin& which);

  /// Forgets producers, from the one whose mark has not moved for longest, and returns how many.
  std::size_t forget(std::size_t most_producers);
  std::size_t size() const noexcept { return marks_.size(); }

 private:
  struct range {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
  };
  using ranges = std::vector<range>;
  struct mark {
    ranges processed{};       // in ascending order
    std::uint64_t moved = 0;  // in the order of the moves
    std::size_t bytes = 0;    // in the text
  };
  using entry = std::map<std::string, mark>::value_type;

  static ranges::const_iterator find_behind(const ranges& all, std::uint64_t number);
  static bool add(ranges& all, std::uint64_t number);
  static std::optional<range> parse_range(std::string_view text);
  static bool parse_mark(std::string_view text, ranges& into);
  static std::string text_of(const entry& each);
  void moved(entry& which);
  std::vector<const entry*> by_move() const;

  std::map<std::string, mark> marks_;
  std::uint64_t moves_ = 0;
  std::size_t bytes_ = 0;  // of all marks and the unknown fields
  json_object unknown_fields_;
};

}  // namespace zkrecipes::detail
