#include "problems/verdict.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.hpp"
#include "cluster/nodes.hpp"
#include "cluster/queue.hpp"
#include "problems/ensemble_rules.hpp"
#include "problems/rules.hpp"

namespace zkadmin {

const char* to_string(severity how_bad) noexcept { return how_bad == severity::critical ? "critical" : "warning"; }

std::string text_of(const problem_list& all) {
  std::string text;
  for (const auto& each : all) text += (text.empty() ? "" : "; ") + each.text;
  return text;
}

std::vector<std::string> problem_lines(const problem_list& all) {
  std::vector<std::string> lines;
  for (const auto& each : all) lines.push_back("problem: " + each.text);
  return lines;
}

bool is_critical(const problem_list& all) noexcept {
  return std::any_of(all.begin(), all.end(), [](const auto& each) { return each.how_bad == severity::critical; });
}

bool has_problem(const problem_list& all, const std::string& name) noexcept {
  return std::any_of(all.begin(), all.end(), [&name](const auto& each) { return each.name == name; });
}

namespace {

/// Collects what all kinds of recipes say.
struct gathering {
  const problem_limits& limits;
  verdict result{};
  std::string missing{};  ///< The kinds of which nothing is known.

  void add_problems(problem_list more) { std::move(more.begin(), more.end(), std::back_inserter(result.problems)); }

  // The notes of a search are the same for each kind.
  void add_note(const survey_note& note) {
    auto& all = result.unknown;
    if (std::find(all.begin(), all.end(), note) == all.end()) all.push_back(note);
  }

  template <class Status>
  void add(bool is_wanted, const std::optional<survey<Status>>& seen, const std::string& name) {
    if (!is_wanted) return;
    if (!seen) return append_to_list(missing, name + "s");
    for (const auto& each : seen->found) add_problems(problems_of(each, limits));
    for (const auto& each : seen->notes) add_note(each);
    if (seen->notes.empty() && !seen->complete) add_note({name + "s", "there may be more than those that were found"});
    if (seen->notes.empty() && seen->refused)
      add_note({name + "s", "something may not be read with these credentials"});
    append_to_list(result.extent, counted(seen->found.size(), name));
  }
};

bool is_beside(const std::string& path, const std::string& other) {
  const auto folder = parent_of(path);
  return folder == other || path == parent_of(other) || (folder != "/" && folder == parent_of(other));
}

/// Whether an election or a group beside the queue has somebody who may take from it: a consumer that reads shows
/// neither a claim nor a taker.
bool has_workers(const queue_status& queue, const findings& seen) {
  const auto leads = [&queue](const auto& each) { return each.leader && is_beside(each.path, queue.path); };
  const auto is_staffed = [&queue](const auto& each) {
    return !each.members.empty() && is_beside(each.path, queue.path);
  };
  return (seen.elections && std::any_of(seen.elections->found.begin(), seen.elections->found.end(), leads)) ||
         (seen.groups && std::any_of(seen.groups->found.begin(), seen.groups->found.end(), is_staffed));
}

/// Where nobody works any more something may still wait, in a queue beside it that nobody else takes from.
void judge_waiting_work(problem_list& all, const findings& seen, const problem_limits& limits) {
  std::vector<const queue_status*> waiting;
  const auto add = [&](const queue_status& queue) {
    const bool is_taken = queue.claimed > 0 || queue.takers > 0;
    const bool is_waiting = queue.items > 0 && !is_taken && queue.oldest >= limits.takeover_limit;
    if (is_waiting && !has_workers(queue, seen)) waiting.push_back(&queue);
  };
  if (seen.queues)
    for (const auto& each : seen.queues->found) add(each);
  if (seen.recipes)
    for (const auto& each : seen.recipes->found)
      if (const auto* queue = std::get_if<queue_status>(&each.original)) add(*queue);
  for (auto& each : all) {
    if (each.name != "nobody-leads" && each.name != "nobody-in-group") continue;
    const auto is_it = [&each](const auto* queue) { return is_beside(each.where, queue->path); };
    const auto found = std::find_if(waiting.begin(), waiting.end(), is_it);
    if (found == waiting.end()) continue;
    each.how_bad = severity::critical;
    each.text += "; " + counted((*found)->items, "item") + " waiting in " + (*found)->path;
  }
}

bool is_worse(const problem& a, const problem& b) noexcept {
  return a.how_bad == severity::critical && b.how_bad != severity::critical;
}

}  // namespace

const char* to_string(check_state state) noexcept {
  switch (state) {
    case check_state::ok: return "ok";
    case check_state::warning: return "warning";
    case check_state::critical: return "critical";
    case check_state::unknown: return "unknown";
  }
  return "unknown";
}

verdict judge(const findings& seen, const wanted_kinds& kinds, const problem_limits& limits) {
  gathering all{limits};
  if (kinds.servers) {
    if (seen.without_session && service_of(seen.servers) == service_state::serves)
      all.add_problems(
          {{"no-session", severity::critical, "ensemble",
            "servers say that they serve, but none has given a session for " + short_duration(*seen.without_session)}});
    all.add_problems(problems_of(seen.servers, limits));
    for (const auto& each : unknown_of(seen.servers)) all.add_note(each);
    append_to_list(all.result.extent, counted(seen.servers.size(), "server"));
  }
  all.add(kinds.elections, seen.elections, "election");
  all.add(kinds.groups, seen.groups, "shard group");
  all.add(kinds.topics, seen.topics, "topic");
  all.add(kinds.commits, seen.commits, "two-phase commit");
  all.add(kinds.queues, seen.queues, "queue");
  all.add(kinds.recipes, seen.recipes, "other recipe");
  if (!all.missing.empty())
    all.add_note({all.missing, "not known" + (seen.trouble.empty() ? "" : ": " + seen.trouble)});
  judge_waiting_work(all.result.problems, seen, limits);
  std::stable_sort(all.result.problems.begin(), all.result.problems.end(), is_worse);
  return std::move(all.result);
}

check_state state_of(const verdict& judged) noexcept {
  if (is_critical(judged.problems)) return check_state::critical;
  if (!judged.unknown.empty()) return check_state::unknown;
  return judged.problems.empty() ? check_state::ok : check_state::warning;
}

}  // namespace zkadmin
