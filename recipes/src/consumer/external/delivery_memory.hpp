// The memory of what is settled, for a source that may deliver a message again; and the id of a message that a producer
// of the library has numbered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/json_object.hpp"
#include "format/shown_text.hpp"
#include "source/failed_attempts.hpp"

namespace zkrecipes::detail {

// Numbers as the library writes them.

/// Nothing unless it is a decimal number in the usual notation: no sign, and no zeros in front.
inline std::optional<std::uint64_t> parse_plain_number(std::string_view text) {
  const bool is_usual = text.size() == 1 || !text.starts_with('0');
  return is_usual ? parse_whole<std::uint64_t>(text) : std::nullopt;
}

inline constexpr std::size_t longest_numbering_producer = 255;

/// `zkr:<producer>:<epoch>:<number>`. The epoch is a life of the producer; it counts its messages from 1 in each queue.
struct numbered_id {
  std::string producer{};  ///< 1 to 255 bytes, also colons.
  std::uint64_t epoch = 0;
  std::uint64_t number = 0;

  friend bool operator==(const numbered_id&, const numbered_id&) = default;
};

std::string to_string(const numbered_id& which);
/// Nothing unless `to_string` makes this very text, so two texts never mean the same message.
std::optional<numbered_id> parse_numbered_id(std::string_view text);

// Which numbered messages are settled, for all producers.

/// The settled numbers of one epoch of a producer, as disjoint ranges. Between two ranges is a message that is in hand,
/// or one that can not come any more. At most 1 000 messages are in hand, so of `most_ranges` the lowest can be
/// forgotten: its numbers count as not settled then, which doubles a message at worst. To take two ranges for one could
/// lose the message between them.
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

/// Messages with a `numbered_id` are remembered as runs of numbers, and known for ever as far as `settled_runs` says.
/// Others are remembered one by one, until they are forgotten. It does no I/O.
class delivery_memory {
 public:
  /// A safeguard: the owner of a memory forgets names earlier. Beyond it the name that was settled first is forgotten.
  static constexpr std::size_t most_names = 20'000;
  static constexpr std::size_t most_failed = 20'000;  ///< Those of an earlier version; ours are `most_counted`.
  /// The same by what they take in the record, because a server takes no request of more than 1 MB.
  static constexpr std::size_t most_bytes_of_names = 400 * 1'024;
  static constexpr std::size_t most_missing = 16;        ///< The last ones.
  static constexpr std::size_t longest_missing = 1'000;  ///< Beyond it their ranges are told as one.

  /// Whether the message is settled, as far as the memory goes back.
  bool knows(const std::string& id) const;
  /// Remembers the message as settled, and forgets its failed attempts.
  /// `first`: of a message with a number. The numbers from this one up to its own are those of no other message of this
  /// source, and become one range; 0: nothing is known of them.
  void settle(const std::string& id, std::uint64_t first = 0);
  /// Counts a message whose id the source made up for one delivery.
  void settle_unnamed(const std::string& id);
  /// The source can not deliver the message again, or it must not be remembered. Runs stay as they are.
  void forget(const std::string& id);
  void fail(const std::string& id, std::int64_t since);
  failed_attempts failed(const std::string& id) const;
  /// Those that are remembered one by one, in the order in which they were settled.
  std::vector<std::string> names() const;
  /// The messages with failed attempts.
  std::vector<std::string> failed_names() const;
  /// What a source has found out, for operators: a field of the record. An empty text takes it away.
  void set_field(std::string_view field, const std::string& text);
  std::string field_text(std::string_view field) const { return unknown_fields_.text(field).value_or(std::string()); }
  /// The numbers from one to another of this producer that are neither settled, nor in `open`, nor told already. They
  /// are remembered as missing until they are settled, and returned as `settled_runs::texts` has them; empty: there are
  /// none.
  std::string record_missing(const numbered_id& of, std::uint64_t from, std::uint64_t to, const settled_run& open);
  const std::vector<std::string>& missing() const noexcept { return missing_; }
  /// Numbers that have not come, and that the producer does not vouch for: nobody knows whether they are of messages.
  /// `record_missing` passes them over later.
  void record_unknown(const numbered_id& of, std::uint64_t from, std::uint64_t to, const settled_run& open);
  const settled_runs& runs() const noexcept { return runs_; }
  /// Nothing was ever settled, and no attempt has failed.
  bool is_new() const noexcept { return settled_ == 0 && failed_.empty(); }

 private:
  friend std::string serialize(const delivery_memory& memory);
  friend std::optional<delivery_memory> parse_delivery_memory(std::string_view text);

  settled_run not_come(const numbered_id& of, std::uint64_t from, std::uint64_t to, const settled_run& open) const;
  bool add_name(const std::string& id);
  void remove_name(const std::string& id);
  void record_found(const numbered_id& which, std::uint64_t first);
  bool read_runs(const std::vector<std::string>& texts);
  bool read_names(const std::vector<std::string>& texts);
  bool read_failed(const std::vector<std::string>& texts);

  settled_runs runs_;
  std::map<std::string, std::uint64_t> names_;   // with their places in the order
  std::map<std::uint64_t, std::string> places_;  // the names, by their places
  std::uint64_t last_place_ = 0;
  std::size_t bytes_of_names_ = 0;
  std::map<std::string, failed_attempts> failed_;
  std::int64_t settled_ = 0;  // how many were settled, ever
  std::vector<std::string> missing_;
  std::vector<std::string> unknown_;  // one entry for each epoch of a producer
  json_object unknown_fields_;        // and those of `set_field`
};

std::string serialize(const delivery_memory& memory);
/// Nothing if the text is no memory.
std::optional<delivery_memory> parse_delivery_memory(std::string_view text);

}  // namespace zkrecipes::detail
