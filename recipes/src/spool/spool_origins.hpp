// Which messages of a file have which origin.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace zkrecipes::detail {

/// A message is told from all others by its number in the file and by an origin, a random number that is drawn each
/// time the file is opened, for the messages that are appended until it is opened again. A power failure can take the
/// end of a file, and a file can be copied: the numbers are used again then, and the origins are not. A file knows the
/// origins of the messages in it. Only files for targets that do not know what was put have them. It does no I/O.
class spool_origins {
 public:
  /// The messages from `first` on have this origin. False: that is no origin, or not behind the ones before.
  bool add(std::uint64_t first, std::uint64_t origin) {
    const bool is_good = origin > 0 && origin <= largest && (all_.empty() || first > all_.back().first);
    if (is_good) all_.push_back({first, origin});
    return is_good;
  }
  void clear() noexcept { all_.clear(); }
  bool is_empty() const noexcept { return all_.empty(); }
  /// That of a message; 0: none.
  std::uint64_t of(std::uint64_t number) const {
    const auto behind = std::ranges::upper_bound(all_, number, {}, &range::first);
    return behind == all_.begin() ? 0 : (behind - 1)->origin;
  }
  /// For the next messages, made of a random number. It is larger than those before, so that receivers can forget the
  /// smallest one first; what no file in use can reach, 4 000 000 openings, begins at the bottom again. It is larger
  /// than the number of any transaction of ZooKeeper that a producer of the same name could have for its epoch.
  std::uint64_t next(std::uint64_t random) const {
    constexpr auto lowest = std::uint64_t{1} << 62;
    constexpr auto spread = std::uint64_t{1} << 61;
    constexpr auto step = std::uint64_t{1} << 40;
    std::uint64_t last = 0;
    for (const auto& each : all_) last = std::max(last, each.origin);
    const bool goes_on = last >= lowest && last < largest - step;
    return goes_on ? last + 1 + random % step : lowest + random % spread;
  }

 private:
  static constexpr auto largest = (std::uint64_t{1} << 63) - 1;  // of SQLite
  struct range {
    std::uint64_t first;
    std::uint64_t origin;
  };
  std::vector<range> all_;
};

}  // namespace zkrecipes::detail
