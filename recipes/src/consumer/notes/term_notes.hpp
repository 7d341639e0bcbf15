// What the consumers of one term have to say in its record, from phase to phase.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "notes/consumer_notes.hpp"
#include "session/condition.hpp"
#include "session/core.hpp"

namespace zkrecipes::detail {

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
