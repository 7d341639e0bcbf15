// Which numbered messages are settled, for all producers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "external/numbered_id.hpp"
#include "external/settled_run.hpp"

namespace zkrecipes::detail {

/// A run for each epoch of each producer. Those used longest ago are forgotten: at most `most_epochs` of a producer are
/// kept, and `most_producers`, but none of those that the last `recent_settlements` settlements have used. At most
/// 1 000 messages are delivered and not acknowledged, so nothing of a run that is forgotten can be delivered again. A
/// spooled producer may put messages again after a restart, but only those of its last epoch, whose number is the
/// largest.
class settled_runs {
 public:
  static constexpr std::size_t most_epochs = 4;
  static constexpr std::size_t most_producers = 256;
  static constexpr std::uint64_t recent_settlements = 2'000;
  static constexpr std::size_t most_runs = 2'048;     ///< Whenever they were used.
  static constexpr std::size_t most_ranges = 10'000;  ///< All runs together.
  /// What all of them take in the record, whenever they were used: a server takes no request of more than 1 MB, and a
  /// record that does not fit would stop the source for good. To forget a run doubles a message at worst.
  static constexpr std::size_t most_bytes = 240 * 1'024;

  bool has(const numbered_id& which) const;
  /// Those of this epoch of a producer; null: there are none.
  const settled_run* find(const numbered_id& which) const;
  /// Earlier epochs of this producer may have been forgotten, or all of it.
  bool may_have_forgotten(const std::string& producer) const;
  /// `first`: also all numbers from this one on, which are those of no message of this source; 0: that of `which`.
  void add(const numbered_id& which, std::uint64_t first = 0);
  /// Something else was settled.
  void count_settlement() { ++settlements_; }
  bool empty() const noexcept { return runs_.empty(); }

  /// `1-29,57 8589934601 orders`: the numbers, the epoch and the producer. From the run that was used longest ago on.
  std::vector<std::string> texts() const;
  /// Adds a run that was used later than those before it. False: `texts` makes no such text, or the run is there.
  bool append(std::string_view text);

 private:
  struct kept_run {
    settled_run numbers{};
    std::uint64_t used = 0;  // the number of the settlement
  };
  using runs = std::map<std::pair<std::string, std::uint64_t>, kept_run>;  // by producer and epoch
  using run_list = std::vector<runs::const_iterator>;

  bool is_recent(const kept_run& which) const { return settlements_ - which.used < recent_settlements; }
  run_list by_use() const;
  std::size_t forget_epochs(const std::string& producer);
  void forget_producers();
  void bound_bytes();
  static std::size_t bytes_of(const runs::value_type& which);
  void forget_lowest();
  void forget(runs::const_iterator which);

  runs runs_;
  std::uint64_t settlements_ = 0;
  std::size_t ranges_ = 0;
  std::size_t bytes_ = 0;  // what they take in the record, at most
};

}  // namespace zkrecipes::detail
