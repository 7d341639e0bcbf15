// A set of whole numbers, kept as ranges.
#pragma once

#include <iterator>
#include <map>
#include <utility>

namespace zkrecipes::detail {

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

}  // namespace zkrecipes::detail
