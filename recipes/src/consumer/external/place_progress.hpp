// Which messages of a log of the user's a group has settled, between what is stored and what was read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/json_object.hpp"
#include "source/failed_attempts.hpp"

namespace zkrecipes::detail {

/// How far a group has consumed a log of the user's, as stored.
/// Places are texts of the user's, of which only the order of receipt is known.
struct place_position {
  std::string last{};                ///< It and all in front of it are settled. Empty: nothing is.
  std::vector<std::string> ahead{};  ///< Settled behind the first that is not; in order.
  std::map<std::string, failed_attempts, std::less<>> failed{};
  json_object unknown_fields{};  ///< Those of a later version are kept.
};

std::string serialize(const place_position& position);
/// Nothing if the text is not a position in a log of the user's.
std::optional<place_position> parse_place_position(std::string_view text);

/// Places are opened in the order of the log, as they are read, and settled in any order. The position follows behind
/// the first place that is not settled. It does no I/O.
class place_progress {
 public:
  /// Most places that are open and not settled, in this term and in those before: see `external_options::in_hand`.
  static constexpr std::size_t most_open = 2'000;
  /// What the ids of all that is settled ahead of the first open place take in a record, before no more is to be read.
  static constexpr std::size_t most_bytes = 384 * 1'024;

  place_progress() = default;
  explicit place_progress(place_position stored);

  /// The place was read. False: it was settled before, or is open.
  bool open(const std::string& place);
  void settle(const std::string& place);
  /// Nothing for a place that is not open.
  void fail(const std::string& place, std::int64_t since);
  failed_attempts failed(std::string_view place) const;
  /// So much is settled ahead of a place that is open that the record would become too large if more were read.
  bool is_far_ahead() const noexcept { return !open_.empty() && bytes_ >= most_bytes; }

  place_position position() const;
  /// It and all in front of it are settled. Empty: nothing is.
  const std::string& last() const noexcept { return stored_.last; }

 private:
  struct entry {
    std::string place;
    bool is_settled;
  };

  void pass_stored(const std::string& place);
  void move_on();

  place_position stored_;                                      // `last` is up to date; `ahead` is what was not read yet
  std::set<std::string, std::less<>> ahead_;                   // the same places
  std::deque<entry> open_;                                     // read, and behind `last`; in order
  std::map<std::string, std::uint64_t, std::less<>> numbers_;  // of the open ones
  std::uint64_t first_ = 0;                                    // the number of the first open one
  std::size_t unknown_ = 0;                                    // places that were read and not stored
  std::size_t bytes_ = 0;                                      // what `ahead_` and `open_` take in a record
};

}  // namespace zkrecipes::detail
