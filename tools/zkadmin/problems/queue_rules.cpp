#include "problems/queue_rules.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "text.hpp"

namespace zkadmin {

problem_list problems_of(const queue_status& queue, const problem_limits& limits) {
  problem_list found;
  const auto add = [&](const char* name, std::string text) {
    found.push_back({name, severity::warning, queue.path, std::move(text)});
  };
  if (queue.items > 0 && queue.oldest > limits.message_limit) {
    const auto items = std::to_string(queue.items) +
                       (queue.items == 1 ? " item, the oldest for " : " items, the oldest for ") +
                       short_duration(queue.oldest);
    const bool has_takers = queue.claimed > 0 || queue.takers > 0;
    if (has_takers) {
      add("old-messages", items);
    } else {
      add("queue-without-consumers",
          items + ", with no claim and no waiting taker: no consumer runs, or its leader is slow");
    }
  }
  const auto waited = std::min(queue.taker_waits.value_or(std::chrono::milliseconds(0)), queue.oldest);
  if (waited >= limits.takeover_limit)
    found.push_back({"first-does-not-act", severity::critical, queue.path,
                     "the first of " + std::to_string(queue.takers) + " takers takes no item, for " +
                         short_duration(waited) + ": " + std::to_string(queue.items) + " wait"});
  if (queue.dead_letters > 0) add("dead-letters", "dead letters: " + std::to_string(queue.dead_letters));
  return found;
}

}  // namespace zkadmin
