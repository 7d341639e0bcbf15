// The record of a term, its history, and what its consumers note.
#include "election/term_record.hpp"

#include "election/term_history.hpp"
#include "fuzz/target.hpp"
#include "notes/consumer_notes.hpp"

namespace fuzz::term_record_target {

using namespace zkrecipes;
using namespace zkrecipes::detail;

void require_history(const term_record& record) {
  const auto terms = read_history(record, 1'700'000'000'000);
  require(terms.size() <= most_ended_terms, "the history is bounded");
  std::int64_t last = 0;
  for (const auto& each : terms) {
    require(each.epoch > last && each.epoch < record.epoch, "epochs of the history grow, up to the present one");
    last = each.epoch;
  }
  require(beginning_of(record, -1) >= 0, "no term began before 1970");
  if (record.epoch == last_epoch) return;
  auto next = record;
  next.epoch = record.epoch + 1;
  next.history = history_after(record, takeover::clean, 1'700'000'000'000);
  const auto again = parse_record(serialize(next));
  require(again && again->history == next.history, "the history of the next term is believed");
}

void require_notes(const term_record& record) {
  for (const auto& each : {to_json(read_notes(record.notes)), next_notes(record, takeover::died)})
    require(to_json(read_notes(each)) == each, "notes that were written read the same");
}

void read_term(std::string_view input) {
  const std::string data(input);
  const auto record = parse_record(data);
  if (!record) return require(!record_of_death(data), "only a record can tell a death");
  require(record->epoch >= 0 && record->epoch <= last_epoch && record->deaths >= 0, "numbers are in their bounds");
  const auto text = serialize(*record);
  const auto again = parse_record(text);
  require(again && serialize(*again) == text, "what was written reads the same");
  require_history(*record);
  require_notes(*record);
  if (const auto dead = record_of_death(data)) {
    const auto after = parse_record(*dead);
    require(after && after->phase == term_phase::died && after->died_in == record->phase, "a death can be read");
    require(after->epoch == record->epoch && after->leader_id == record->leader_id, "a death changes no other field");
  }
}

const target known("term_record", read_term);

}  // namespace fuzz::term_record_target
