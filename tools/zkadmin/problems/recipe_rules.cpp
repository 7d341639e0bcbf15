#include "problems/recipe_rules.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "problems/commit_rules.hpp"
#include "problems/election_rules.hpp"
#include "problems/group_rules.hpp"
#include "problems/line_places.hpp"
#include "problems/queue_rules.hpp"
#include "problems/stream_rules.hpp"
#include "problems/topic_rules.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

constexpr std::size_t longest_names = 200;  // Bytes of a list of names.

/// Adds problems of one recipe.
struct recipe_findings {
  const recipe_status& status;
  problem_list found{};

  void add(const char* name, severity how_bad, std::string text) {
    found.push_back({name, how_bad, status.path, std::move(text)});
  }
};

struct own_rules {
  const problem_limits& limits;
  problem_list operator()(std::monostate) const { return {}; }
  template <class Status>
  problem_list operator()(const Status& status) const {
    return problems_of(status, limits);
  }
};

void judge_access(recipe_findings& about) {
  if (about.status.access == recipe_access::foreign_data)
    about.add("foreign-data", severity::warning, "its node holds data that zkadmin does not understand");
  if (about.status.access == recipe_access::no_access)
    about.add("no-access", severity::warning, "it may not be read with these credentials");
}

// All members of lines, claims, members and dynamic instances are ephemeral. A node of no session has been copied,
// restored or made by hand.
void judge_orphans(recipe_findings& about) {
  std::string names;
  std::size_t count = 0;
  bool is_in_the_way = false;
  for (const auto& each : about.status.participants) {
    if (!each.is_orphan) continue;
    append_to_list(names, label(each));
    ++count;
    is_in_the_way |= each.position == 0;
  }
  if (count == 0) return;
  about.add("orphan-member", is_in_the_way ? severity::critical : severity::warning,
            "without a session: " + shortened(names, longest_names) +
                (count == 1 ? "; its node stays until somebody deletes it"
                            : "; their nodes stay until somebody deletes them"));
}

void judge_strangers(recipe_findings& about) {
  const auto& status = about.status;
  if (status.stranger_count == 0) return;
  std::string names;
  for (const auto& each : status.strangers) append_to_list(names, each);
  about.add("foreign-nodes", severity::warning,
            "children that do not belong to it: " + std::to_string(status.stranger_count) + " (" +
                shortened(names, longest_names) + ")");
}

std::optional<std::chrono::milliseconds> resized_before(const recipe_status& status) {
  const auto is_it = [](const auto& fact) { return fact.name == "resized"; };
  const auto found = std::find_if(status.facts.begin(), status.facts.end(), is_it);
  if (found == status.facts.end()) return std::nullopt;
  const auto* age = std::get_if<std::chrono::milliseconds>(&found->value);
  return age ? std::optional(*age) : std::nullopt;
}

// Right after a resize to fewer permits it is as it should be.
void judge_permits(recipe_findings& about, const problem_limits& limits) {
  const auto& status = about.status;
  const bool is_semaphore = status.kinds.size() == 1 && status.kinds.front() == recipe::semaphore;
  if (!is_semaphore || !status.size || !status.taken || *status.taken <= *status.size) return;
  const auto age = resized_before(status);
  if (age && *age < limits.permit_limit) return;
  about.add("too-many-permits", severity::warning,
            std::to_string(*status.taken) + " permits are taken of " + std::to_string(*status.size) +
                (age ? ", " + short_duration(*age) + " after the last resize" : ""));
}

// A session may well have several places in a line: it has many acquisitions.
void judge_places(recipe_findings& about) {
  line_places places;
  for (const auto& each : about.status.participants)
    if (each.position && each.session) places.add(each.id, *each.session, each.age);
  places.judge(about.status.path, false, about.found);
}

// The member that comes last writes the round, or the first one if its process has gone before it could.
void judge_round(recipe_findings& about, const problem_limits& limits) {
  const auto& status = about.status;
  const bool is_barrier = status.kinds.size() == 1 && status.kinds.front() == recipe::double_barrier;
  if (!is_barrier || status.state != "gathering" || !status.size || !status.taken || *status.taken < *status.size)
    return;
  std::size_t waited = 0;
  for (const auto& each : status.participants)
    if (each.age && *each.age >= limits.takeover_limit) ++waited;
  if (waited < static_cast<std::size_t>(*status.size)) return;
  about.add("first-does-not-act", severity::critical,
            std::to_string(*status.taken) + " are present of " + std::to_string(*status.size) +
                ", and nobody has begun the round");
}

}  // namespace

problem_list problems_of(const recipe_status& status, const problem_limits& limits) {
  recipe_findings about{status, std::visit(own_rules{limits}, status.original)};
  if (std::holds_alternative<election_status>(status.original)) return std::move(about.found);
  judge_access(about);
  judge_orphans(about);
  judge_strangers(about);
  judge_permits(about, limits);
  judge_places(about);
  judge_round(about, limits);
  return std::move(about.found);
}

}  // namespace zkadmin
