// How far a group has consumed a stream: as stored, and as read since.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "format/json_object.hpp"
#include "topic/log_position.hpp"

namespace zkrecipes::detail {

/// The id of an entry of a Redis stream.
/// Ids grow along a stream. No entry has the id 0-0.
struct stream_id {
  std::uint64_t ms = 0;
  std::uint64_t sequence = 0;
  friend auto operator<=>(const stream_id&, const stream_id&) = default;
};

/// "1700000000000-3", as Redis writes it.
std::string to_string(const stream_id& id);
/// Nothing unless the text is an id as Redis writes it.
std::optional<stream_id> parse_stream_id(std::string_view text);

struct stream_position {
  /// By their first entry, the last entry of each: both settled, and all between them.
  using ranges = std::map<stream_id, stream_id>;

  stream_id last{};  ///< It and all in front of it are settled.
  ranges ahead{};    ///< Settled behind the first that is not.
  std::map<stream_id, failed_attempts> failed{};
  std::string seek{};            ///< A GUID of the last seek; empty: there was none.
  json_object unknown_fields{};  ///< Fields of a later version are kept.

  bool is_settled(const stream_id& which) const;
  /// The last entry that is settled.
  stream_id farthest() const { return ahead.empty() ? last : ahead.rbegin()->second; }
};

std::string serialize(const stream_position& position);
/// Nothing if the text is not a position in a stream.
std::optional<stream_position> parse_stream_position(std::string_view text);

/// Which entries of a stream a group has settled, between what is stored and what was read.
/// Entries are opened in order, as they are read, and settled in any order. The position follows behind the first entry
/// that is not settled. Settled entries behind that one are kept as ranges, so one entry that stays open for long costs
/// nothing but itself. It does no I/O.
class stream_progress {
 public:
  /// So many ranges and failed attempts a position may have before no more is to be begun. Each takes about 40 bytes in
  /// the record with the ids that Redis gives, and less than 90 with any; each commit writes all of them.
  static constexpr std::size_t most_parts = 1'000;

  stream_progress() = default;
  explicit stream_progress(stream_position stored);

  /// It was read. False: it was settled before.
  bool open(const stream_id& which);
  bool is_settled(const stream_id& which) const;
  void settle(const stream_id& which);
  void fail(const stream_id& which, std::int64_t since);
  failed_attempts failed(const stream_id& which) const;

  /// The last entry that is settled, or was read.
  stream_id farthest() const;
  /// How many entries were read and are not settled.
  std::size_t count_open() const noexcept { return open_.size() - settled_count_; }
  bool has_open() const noexcept { return count_open() > 0; }
  /// No entry that is not `is_known` is to be begun while others are in hand: the record would become too large.
  bool is_full() const noexcept { return stored_.ahead.size() + runs_ + stored_.failed.size() >= most_parts; }
  /// What was stored tells something of this entry or of one behind it, so it was begun before.
  bool is_known(const stream_id& which) const noexcept { return which <= known_end_; }
  /// How many entries take memory. For tests.
  std::size_t count_kept() const noexcept { return open_.size(); }
  /// The stream ends here, in front of what is known: it has lost what was behind it. Nothing is open.
  void fall_back(const stream_id& end);

  stream_position position() const;
  /// What may be removed from the stream: it, and all in front of it, are settled.
  const stream_id& last() const noexcept { return stored_.last; }

 private:
  struct entry {
    stream_id id;
    bool is_settled;
  };
  using entries = std::deque<entry>;

  void pass_stored(const stream_id& which);
  void on_settled(entries::iterator which);
  void move_on();
  void thin_out();
  entries::iterator find(const stream_id& which);

  stream_position stored_;         // `last` is up to date; `ahead` is behind all that was read
  stream_id known_end_{};          // the last entry that it told something of at first
  entries open_;                   // read, and behind `last`; in order. A commit copies it, so it is flat
  std::size_t settled_count_ = 0;  // of the open ones
  std::size_t runs_ = 0;           // of settled ones that follow each other: all between two of a run are settled
};

}  // namespace zkrecipes::detail
