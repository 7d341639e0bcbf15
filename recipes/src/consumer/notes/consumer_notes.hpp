// What consumers write into the record of a term: its field `consumer`, which the term itself carries unread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/lease_clock.hpp>

#include "election/term_record.hpp"
#include "format/json_object.hpp"
#include "session/condition.hpp"
#include "session/core.hpp"

namespace zkrecipes::detail {

struct consumer_notes {
  /// How many terms in a row, up to this one, have begun because the process of the term before had died.
  std::int32_t crashes = 0;
  /// Messages that may be in hand when the process dies: those that were named before they were begun.
  std::vector<std::string> in_hand{};
  json_object figures{};  ///< What operators see.
  /// How long it takes, from the write of the record on, until all credit of the limit (`message_limit`) is back.
  /// Nothing: it is not known.
  std::optional<lease_clock::duration> limit_level{};

  bool empty() const noexcept { return crashes == 0 && in_hand.empty() && figures == json_object() && !limit_level; }

  friend bool operator==(const consumer_notes&, const consumer_notes&) = default;
};

/// As `term_record::notes`. Empty if there is nothing to say.
json_object to_json(const consumer_notes& notes);
consumer_notes read_notes(const json_object& notes);

/// The notes with which the term behind this one begins.
json_object next_notes(const term_record& before, takeover how);
/// Whether the last write of a term, from `handing_over` to `retired`, may have changed these notes.
bool may_change_unread(const json_object& notes);

/// What the consumers of one term have to say in its record, from phase to phase.
/// A term can have several runs of consumers, one after the other, so the term keeps this, and does not look into it.
/// On the strand.
class term_notes {
 public:
  /// `record`: as the term began; `version`: that of its node. `changed`, which outlives it, is notified of progress.
  term_notes(const term_record& record, std::int32_t version, core_ptr session, condition& changed);

  // For the term.
  /// As a term leaves them in this phase.
  json_object at(term_phase phase) const;
  const json_object& written() const noexcept { return written_; }
  void on_written(json_object notes) { written_ = std::move(notes); }
  /// Whether the record names messages. A queue consumer judges those.
  bool name_messages() const { return written_.has("in_hand"); }

  // For its consumers.
  /// As last written, with the messages that were not judged yet.
  consumer_notes present() const;
  /// `suspects`: messages that an earlier process died of, perhaps, and that were not judged yet: left to the
  /// successor. `in_hand`: what the record names besides, because it is being processed. It stays named during the
  /// hand-over.
  void set_suspects(std::vector<std::string> suspects, std::vector<std::string> in_hand);
  /// A message was settled. A term that has settled one and ends cleanly was not brought down by a message. What
  /// `inaugurate` and `hand_over` commit is no progress, because it tells nothing about messages.
  void record_progress();
  bool has_progressed() const noexcept { return has_progressed_; }
  /// When all credit of the limit of the calls (`message_limit`) is back. A clean hand-over passes it on. Nothing: it
  /// is not known.
  std::optional<lease_clock::time_point> limit_arrival() const noexcept { return limit_arrival_; }
  void set_limit_arrival(std::optional<lease_clock::time_point> when) noexcept;
  /// How long it takes until then.
  std::optional<lease_clock::duration> limit_level() const;
  /// Nobody has written the record before this term, and no run of a consumer has begun in it.
  bool has_all_credit() const noexcept { return has_all_credit_; }

 private:
  core_ptr session_;
  condition& changed_;
  json_object written_;
  std::vector<std::string> suspects_;
  std::vector<std::string> in_hand_;
  std::optional<lease_clock::time_point> limit_arrival_;
  bool has_all_credit_;
  bool has_progressed_ = false;
};

}  // namespace zkrecipes::detail
