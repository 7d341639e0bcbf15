// Which numbers of one epoch of a producer are settled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zkrecipes::detail {

/// A set of numbers as disjoint ranges. Between two ranges is a message that is in hand, or one that can not come any
/// more. At most 1 000 messages are in hand, so of `most_ranges` the lowest can be forgotten: its numbers count as not
/// settled then, which doubles a message at worst. To take two ranges for one could lose the message between them.
class settled_run {
 public:
  static constexpr std::size_t most_ranges = 2'000;

  bool has(std::uint64_t number) const;
  void add(std::uint64_t number) { add(number, number); }
  /// All from `first` to `last`.
  void add(std::uint64_t first, std::uint64_t last);
  /// All numbers of another one.
  void add(const settled_run& other);
  void remove(const settled_run& other);
  /// The numbers from `first` to `last` that are not in it.
  settled_run without(std::uint64_t first, std::uint64_t last) const;
  bool empty() const noexcept { return ranges_.empty(); }
  /// There is a range.
  void forget_lowest() { ranges_.erase(ranges_.begin()); }
  std::size_t count_ranges() const noexcept { return ranges_.size(); }
  /// What `to_text` takes, at most.
  std::size_t most_text() const {
    return ranges_.empty() ? 0 : ranges_.size() * 2 * (std::to_string(ranges_.back().last).size() + 1);
  }

  /// `1-29,32-39,57`.
  std::string to_text() const;
  /// Nothing unless `to_text` makes this very text, of 1 to `most_ranges` ranges. 0 is no number.
  static std::optional<settled_run> parse(std::string_view text);

 private:
  struct range {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
  };

  std::size_t place_behind(std::uint64_t number) const;
  static std::optional<range> parse_range(std::string_view text);
  bool append(const range& one);

  std::vector<range> ranges_;  // in ascending order; a commit copies it, so it is flat
};

}  // namespace zkrecipes::detail
