// The nodes of queues.
#include "delivery/delivery_repeats.hpp"
#include "fuzz/target.hpp"
#include "queue/queue_layout.hpp"

namespace fuzz::library_queues_targets {

using namespace zkrecipes::detail;
using namespace zkrecipes;

// The names of a queue's nodes, for the three kinds of queues.

void read_items(queue_kind kind, const std::vector<std::string>& names) {
  const queue_layout layout(kind, "/q");
  const auto items = layout.items_of(names);
  for (std::size_t i = 1; i < items.size(); ++i)
    require(!goes_first(items[i], items[i - 1]), "items stand in their order");
  for (const auto& each : items) {
    const auto again = layout.parse(each.name);
    require(again && again->rank == each.rank && again->sequence == each.sequence, "an item has one place");
    require(!layout.is_known(each.name), "an item is no other node of the queue");
  }
  require(items.empty() || !layout.is_strange(names), "a queue with items is not strange");
}

void read_names(std::string_view input) {
  const auto names = lines_of(input);
  for (const auto kind : {queue_kind::fifo, queue_kind::priority, queue_kind::delayed}) read_items(kind, names);
  for (const auto& each : names) {
    const auto mark = mark_of_letter(each);
    require(mark.empty() || is_mark(mark), "a letter belongs to a mark");
  }
  require(is_mark(mark_of(input)), "each key has a mark");
  const auto shown = read_mark(write_mark(input));
  require(shown && *shown == shown_key(input), "the key of a mark reads the same");
  read_mark(input);
}

// Dead letters, and the numbers of producers that were processed.

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

const target known[] = {{"queue_names", read_names}, {"queue_records", read_queue}};

}  // namespace fuzz::library_queues_targets
