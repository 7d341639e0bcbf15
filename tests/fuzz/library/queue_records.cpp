// Dead letters, and the numbers of producers that were processed.
#include "delivery/producer_marks.hpp"
#include "fuzz/target.hpp"
#include "queue/dead_letter.hpp"

namespace fuzz::queue_records_target {

using namespace zkrecipes;
using namespace zkrecipes::detail;

void read_dead(std::string_view input) {
  const auto letter = read_letter(input);
  if (!letter) return;
  const auto again = read_letter(write_letter(*letter));
  require(again.has_value(), "a letter can be read");
  require(again->data == letter->data && again->item == letter->item, "a letter keeps its item");
  require(again->missing_bytes == letter->missing_bytes, "a letter that is cut is not taken for whole");
  require(again->attempts == letter->attempts && again->epoch == letter->epoch, "a letter keeps its numbers");
}

void read_marks(std::string_view input) {
  auto marks = producer_marks::parse(input);
  if (!marks) return;
  const auto text = marks->to_text();
  auto again = producer_marks::parse(text);
  require(again && again->to_text() == text, "marks read the same");
  const message_origin next{"p", 17};
  if (marks->has_processed(next)) return;
  marks->record_processed(next);
  require(marks->has_processed(next), "what was noted is there");
  require(producer_marks::parse(marks->to_text()).has_value(), "marks can be read when a number was added");
}

void read_queue(std::string_view input) {
  read_dead(input);
  read_marks(input);
}

const target known("queue_records", read_queue);

}  // namespace fuzz::queue_records_target
