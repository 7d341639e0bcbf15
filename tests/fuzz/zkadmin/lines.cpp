// The nodes of recipes in which clients stand in line. The first line of the input is the data of the recipe's node;
// each further one a child: its name and, behind a blank, its data.
#include "cluster/line_status.hpp"
#include "cluster/recipe_reader.hpp"
#include "fuzz/target.hpp"
#include "line/line_spec.hpp"

namespace fuzz::lines_target {

using namespace zkadmin;

node_line read_line(const std::vector<std::string>& lines, name_markers markers) {
  node_line line;
  line.path = "/recipe";
  line.root.data = lines.front();
  line.now = std::chrono::milliseconds(1'700'000'000'000);
  std::vector<std::string> names;
  for (std::size_t i = 1; i < lines.size(); ++i) names.push_back(lines[i].substr(0, lines[i].find(' ')));
  for (const auto& each : zkrecipes::detail::members_of(names, markers)) {
    child_node node{each.name};
    for (const auto& text : lines)
      if (text.starts_with(each.name + " ")) node.data = text.substr(each.name.size() + 1);
    if (line.members.size() % 5 != 4) node.stat.emplace();
    line.members.push_back(node);
  }
  for (const auto& name : names)
    if (!zkrecipes::detail::parse_sequence(name, markers)) line.others.push_back(name);
  line.strangers = line.others;
  return line;
}

void require_sense(const recipe_status& status, const node_line& line) {
  require(!status.kinds.empty() && !kind_text(status).empty(), "a recipe has a kind");
  if (status.access != recipe_access::readable) return;
  require(status.participants.size() + status.not_read <= line.members.size(), "nobody takes part without a node");
  require(status.waiting.value_or(0) <= line.members.size(), "no more wait than there are");
  require(status.taken.value_or(0) >= 0, "no fewer than no permits are taken");
  for (const auto& each : status.participants) require(!each.role.empty(), "who takes part has a role");
  for (const auto& each : status.facts) to_text(each.value);
}

void read_lines(std::string_view input) {
  const auto lines = lines_of(input);
  const auto locks = read_line(lines, lock_markers());
  require_sense(lock_of(locks, false), locks);
  require_sense(lock_of(locks, true), locks);
  const auto both = read_line(lines, read_write_markers());
  require_sense(read_write_lock_of(both), both);
  const auto permits = read_line(lines, permit_markers());
  require_sense(semaphore_of(permits), permits);
  const auto round = read_line(lines, round_member_markers());
  require_sense(double_barrier_of(round), round);
  const auto leases = read_line(lines, lease_markers());
  auto all = leases;
  all.members.insert(all.members.end(), locks.members.begin(), locks.members.end());
  require_sense(curators_semaphore_of("/recipe", leases, locks), all);
  require_sense(kazoos_semaphore_of(leases, locks), all);
}

const target known("lines", read_lines);

}  // namespace fuzz::lines_target
