#include "screen/differences.hpp"

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "problems/rules.hpp"

namespace zkadmin {
namespace {

using changes = std::vector<change>;

void compare(const server_status& before, const server_status& after, changes& found) {
  const std::string& name = after.server;
  if (before.silent && before.error.empty()) return;  // the first result for this server is no change
  if (before.reachable && !after.reachable) {
    found.push_back({name + " is " + standing(after) + ": " + after.error, look::bad});
  } else if (is_serving(before) && !is_serving(after)) {
    found.push_back({name + ": " + after.error, look::warning});
  } else if (after.role && before.role != after.role) {
    found.push_back(
        {name + ": " + standing(before) + " -> " + standing(after), is_serving(after) ? look::good : look::warning});
  } else if (!before.reachable && after.reachable) {
    found.push_back({name + " is up", look::good});
  } else if (!after.reachable && before.silent != after.silent) {
    found.push_back({name + ": " + standing(before) + " -> " + standing(after) + ": " + after.error, look::bad});
  }
}

std::string id_of(const std::optional<candidate_status>& leader) { return leader ? label(*leader) : ""; }

void compare_leaders(const election_status& before, const election_status& after, changes& found) {
  const std::string was = id_of(before.leader);
  const std::string is = id_of(after.leader);
  const bool is_same = was == is && before.leader.has_value() == after.leader.has_value() &&
                       (!before.leader || before.leader->token == after.leader->token);
  if (is_same) return;
  if (!after.leader) {
    found.push_back({after.path + ": " + was + " leads no more", look::warning});
  } else if (!before.leader) {
    found.push_back({after.path + ": " + is + " leads", look::good});
  } else {
    found.push_back({after.path + ": leader " + was + " -> " + is, look::good});
  }
}

void compare_hand_overs(const election_status& before, const election_status& after, changes& found) {
  if (after.hand_over && (!before.hand_over || before.hand_over->from != after.hand_over->from)) {
    const std::string to = after.hand_over->to.empty() ? "nobody yet" : after.hand_over->to;
    found.push_back(
        {after.path + ": hand-over " + after.hand_over->from + " -> " + to + " began (" + after.hand_over->state + ")",
         look::warning});
  } else if (before.hand_over && !after.hand_over) {
    found.push_back({after.path + ": hand-over from " + before.hand_over->from + " ended", look::good});
  }
}

void compare_terms(const election_status& before, const election_status& after, changes& found) {
  if (after.epoch != before.epoch) {
    const std::string how = after.takeover.empty() ? "" : " (" + after.takeover + ")";
    const bool is_forced = after.takeover == "forced" || after.takeover == "died";
    found.push_back({after.path + ": term " + std::to_string(after.epoch) + " began" + how,
                     is_forced ? look::warning : look::good});
  }
}

// By name: the text of a problem may hold its age.
void compare_problems(const election_status& before, const election_status& after, const problem_limits& limits,
                      changes& found) {
  const auto known = problems_of(before, limits);
  for (const auto& each : problems_of(after, limits))
    if (!has_problem(known, each.name))
      found.push_back({after.path + ": " + each.text, each.how_bad == severity::critical ? look::bad : look::warning});
  if (after.resignation_asked && !before.resignation_asked && after.leader)
    found.push_back({after.path + ": " + label(*after.leader) + " was asked to give up", look::warning});
}

void compare(const election_status& before, const election_status& after, const problem_limits& limits,
             changes& found) {
  // If the election could not be read before or after, the difference does not tell what happened.
  if (is_known(before) && is_known(after)) {
    compare_leaders(before, after, found);
    compare_terms(before, after, found);
    compare_hand_overs(before, after, found);
  }
  compare_problems(before, after, limits, found);
}

}  // namespace

std::vector<change> differences(std::span<const server_status> before, std::span<const server_status> after) {
  std::map<std::string_view, const server_status*> known;
  for (const auto& each : before) known[each.server] = &each;
  changes found;
  for (const auto& each : after)
    if (const auto was = known.find(each.server); was != known.end()) compare(*was->second, each, found);
  return found;
}

std::vector<change> differences(std::span<const election_status> before, std::span<const election_status> after,
                                const problem_limits& limits) {
  std::map<std::string_view, const election_status*> known;
  for (const auto& each : before) known[each.path] = &each;
  changes found;
  for (const auto& each : after) {
    const auto was = known.extract(each.path);
    if (was.empty()) {
      found.push_back({each.path + ": new election", look::plain});
    } else {
      compare(*was.mapped(), each, limits, found);
    }
  }
  for (const auto& gone : known) found.push_back({std::string(gone.first) + ": the election is gone", look::warning});
  return found;
}

std::vector<change> differences(const problem_list& before, const problem_list& after) {
  const auto names_of = [](const problem_list& all) {
    std::set<std::pair<std::string, std::string>> names;
    for (const auto& each : all) names.emplace(each.where, each.name);
    return names;
  };
  const auto old_names = names_of(before);
  const auto new_names = names_of(after);
  changes found;
  for (const auto& each : after)
    if (!old_names.contains({each.where, each.name}))
      found.push_back({each.where + ": " + each.text, each.how_bad == severity::critical ? look::bad : look::warning});
  for (const auto& each : before)
    if (!new_names.contains({each.where, each.name}))
      found.push_back({each.where + ": " + each.name + " is over", look::good});
  return found;
}

}  // namespace zkadmin
