// The recipes that have no page of their own: queues.
#include "problems/queue_rules.hpp"
#include "screen/page_content.hpp"
#include "text.hpp"

namespace zkadmin {

list_view recipe_list_view(const model& state) {
  const auto add_row = [](list_view& list, const queue_status& queue, const problem_list& problems) {
    const bool is_empty = queue.items == 0;
    list.add({queue.path, screen_place{page::recipes, queue.path}},
             {{queue.path, look_of(problems)},
              {"queue"},
              {std::to_string(queue.items)},
              {std::to_string(queue.claimed)},
              {std::to_string(queue.takers)},
              {std::to_string(queue.dead_letters)},
              {is_empty ? "-" : short_duration(queue.oldest), look::plain,
               is_empty ? std::nullopt : std::optional(queue.oldest.count())}});
  };
  auto list = list_of_survey(state, state.seen.queues,
                             {{"PATH", 0, false, 16, true},
                              {"KIND", 1},
                              {"ITEMS", 0, true},
                              {"CLAIMED", 2, true},
                              {"TAKERS", 3, true},
                              {"LETTERS", 1, true},
                              {"OLDEST", 0, true}},
                             add_row);
  list.is_known = list.is_known || !state.kinds.queues;
  return list;
}

void add_recipe(sheet& to, const model& state, const std::string& path) {
  const auto* queue = find_by_path(state.seen.queues, path);
  if (!queue) return;
  to.add_subject("QUEUE", path, staleness(state));
  to.add_field("items", std::to_string(queue->items));
  to.add_field("claimed", std::to_string(queue->claimed));
  to.add_field("takers", std::to_string(queue->takers) + " wait for an item");
  to.add_field("dead letters", std::to_string(queue->dead_letters));
  if (queue->items > 0) to.add_field("oldest", short_duration(queue->oldest));
  add_problems(to, problems_of(*queue, state.limits));
}

}  // namespace zkadmin
