// The names of a queue's nodes, for the three kinds of queues.
#include "fuzz/target.hpp"
#include "queue/key_mark.hpp"
#include "queue/queue_layout.hpp"

namespace fuzz::queue_names_target {

using namespace zkrecipes::detail;

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

const target known("queue_names", read_names);

}  // namespace fuzz::queue_names_target
