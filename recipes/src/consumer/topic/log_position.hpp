// How far a group has consumed a shard, as stored.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "format/json_object.hpp"
#include "source/failed_attempts.hpp"
#include "topic/topic_layout.hpp"

namespace zkrecipes::detail {

/// A set of whole numbers, kept as ranges.
template <class Number>
class number_ranges {
 public:
  using ranges = std::map<Number, Number>;  ///< The last number of each range, by its first.

  /// False if it was there.
  bool add(Number what) {
    auto behind = ranges_.upper_bound(what);
    const auto in_front = behind == ranges_.begin() ? ranges_.end() : std::prev(behind);
    if (in_front != ranges_.end() && in_front->second >= what) return false;
    const bool joins_front = in_front != ranges_.end() && in_front->second + 1 == what;
    const bool joins_behind = behind != ranges_.end() && what + 1 == behind->first;
    const auto last = joins_behind ? behind->second : what;
    if (joins_behind) ranges_.erase(behind);
    if (joins_front) {
      in_front->second = last;
    } else {
      ranges_.emplace(what, last);
    }
    return true;
  }
  /// `first` to `last`, both included; none of them is there.
  void add_range(Number first, Number last) { ranges_[first] = last; }
  bool contains(Number what) const {
    const auto behind = ranges_.upper_bound(what);
    return behind != ranges_.begin() && std::prev(behind)->second >= what;
  }
  /// The smallest number from `from` on that is not there.
  Number first_missing(Number from) const {
    const auto behind = ranges_.upper_bound(from);
    if (behind == ranges_.begin() || std::prev(behind)->second < from) return from;
    return std::prev(behind)->second + 1;
  }
  /// Removes the numbers below this one.
  void erase_below(Number least) {
    while (!ranges_.empty() && ranges_.begin()->first < least) {
      const auto last = ranges_.begin()->second;
      ranges_.erase(ranges_.begin());
      if (last >= least) ranges_.emplace(least, last);
    }
  }
  const ranges& all() const noexcept { return ranges_; }
  bool empty() const noexcept { return ranges_.empty(); }

 private:
  ranges ranges_;
};

struct log_position {
  /// The first message that is not settled; nothing: the first that is there.
  std::optional<message_place> next{};
  number_ranges<std::int32_t> batches{};                            ///< Settled ahead of it, as a whole.
  std::map<std::int32_t, number_ranges<std::uint32_t>> messages{};  ///< Settled ahead of it, by batch.
  std::map<message_place, failed_attempts> failed{};
  /// Batches that are settled, but whose messages are in no dead letter because they could not be read: they stay.
  number_ranges<std::int32_t> kept{};
  std::string seek{};            ///< A GUID of the last seek; empty: there was none.
  json_object unknown_fields{};  ///< Fields of a later version are kept.

  bool is_settled(const message_place& which) const;
  /// Whether all messages of the batch with this number are settled, whatever their number.
  bool is_behind(std::int32_t batch) const;
  /// How many messages of a batch are not settled, as far as its name tells.
  std::uint32_t count_left(const batch_name& which) const;
};

std::string serialize(const log_position& position);
/// Nothing if the text is not a position.
std::optional<log_position> parse_position(std::string_view text);

}  // namespace zkrecipes::detail
