#include "problems/topic_rules.hpp"

#include <string>
#include <utility>

#include "text.hpp"

namespace zkadmin {
namespace {

constexpr std::size_t longest_of_groups = 200;  // Bytes of a list of groups.

}  // namespace

problem_list problems_of(const topic_status& topic, const problem_limits& limits) {
  std::string letters, behind;
  for (const auto& each : topic.groups) {
    if (each.dead_letters > 0) append_to_list(letters, std::to_string(each.dead_letters) + " of " + each.name);
    const auto lag = total_of(each.behind);
    if (lag.messages > 0 && lag.oldest > limits.message_limit)
      append_to_list(behind, each.name + " (" + short_duration(lag.oldest) + ", " + std::to_string(lag.messages) +
                                 " messages behind)");
  }
  problem_list found;
  const auto add = [&](const char* name, const char* begin, const std::string& list) {
    if (!list.empty())
      found.push_back({name, severity::warning, topic.path, begin + shortened(list, longest_of_groups)});
  };
  add("dead-letters", "dead letters: ", letters);
  add("old-messages", "old messages wait for ", behind);
  return found;
}

}  // namespace zkadmin
