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

#include <zkrecipes/consumer/external_source.hpp>

#include "external/delivery_memory.hpp"
#include "format/json_object.hpp"
#include "source/failed_attempts.hpp"

namespace zkrecipes::detail {

/// The messages of a user's source that were received and are not settled.
/// A source of the user's can not read a message again, so it is kept until it is settled.
class held_messages {
 public:
  /// What the ids of all take in a record, at most, and the attempts of each.
  static constexpr std::size_t most_bytes = 128 * 1'024;
  static constexpr std::size_t bytes_of_attempts = 32;

  /// `most`: messages.
  explicit held_messages(std::size_t most) : most_(most) {}
  void resize(std::size_t most) noexcept { most_ = most; }
  std::size_t most() const noexcept { return most_; }
  bool empty() const noexcept { return all_.empty(); }

  /// How many more there may be, by their number and by what their ids take in a record.
  std::size_t room() const noexcept;
  bool contains(std::string_view id) const { return all_.contains(id); }
  /// Null: it is not here.
  const external_message* find(std::string_view id) const;
  void add(external_message what);
  /// The message with this id has come again. False: it is not held.
  bool count_repeat(std::string_view id);
  /// The source was opened anew, and gives all of them again.
  void forget_deliveries();
  /// How often it was given since the source was opened.
  std::size_t deliveries(std::string_view id) const;
  void remove(std::string_view id);
  void clear();

  /// What an id takes as an element of a record, at most: as a JSON string, with a comma.
  static std::size_t cost_of(std::string_view id);

 private:
  struct held_message {
    external_message what{};
    std::size_t deliveries = 1;  // since the source was opened
  };

  std::size_t most_;
  std::size_t bytes_ = 0;
  std::map<std::string, held_message, std::less<>> all_;
};

/// The ids of the messages of a user's queue that were settled last.
/// A memory with bounds: the id that was settled first is forgotten first. It does no I/O.
class remembered_ids {
 public:
  /// `most`: ids.
  explicit remembered_ids(std::size_t most) : most_(most) {}

  /// Goes on from a record. False: it is none.
  bool load(std::string_view record);
  std::string record() const { return serialize(memory_); }

  bool knows(const std::string& id) const { return memory_.knows(id); }
  void settle(const std::string& id);
  /// It can not come again.
  void forget(const std::string& id);
  /// One that has failed and never comes again would be counted for ever. If no more can be counted, the oldest of
  /// those that are not held is forgotten.
  void fail(const std::string& id, std::int64_t since, const held_messages& held);
  failed_attempts failed(const std::string& id) const { return memory_.failed(id); }

 private:
  void forget_oldest();

  std::size_t most_;
  delivery_memory memory_;
  std::deque<std::string> order_;  // of those that are remembered
  std::size_t bytes_ = 0;          // what they take in the record
};

/// How far a group has consumed a log of the user's, as stored.
/// Places are texts of the user's, of which only the order of receipt is known.
struct place_position {
  std::string last{};                ///< It and all in front of it are settled. Empty: nothing is.
  std::vector<std::string> ahead{};  ///< Settled behind the first that is not; in order.
  std::map<std::string, failed_attempts, std::less<>> failed{};
  json_object unknown_fields{};  ///< Fields of a later version are kept.
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
