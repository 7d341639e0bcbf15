// Tries all interleavings of the protocol of a shard group, which moment.hpp explains. There must be no state in which
// two members believe to own the shard, or in which the fence lets a write of another than the owner pass. And from
// each state in which a member is there, a settled one can be reached without anything else that fails, begins or is
// rearranged. The variants deviate from the protocol, and the search has to find what each of them breaks.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "moment.hpp"
#include "state.hpp"

namespace model {

/// Numbers the states in the order in which they are found. Its hash table has only their numbers.
class state_table {
 public:
  using number = std::uint32_t;

  state_table() : slots_(first_slots, none) {}

  /// The number of the state, and whether it is new.
  std::pair<number, bool> insert(std::uint64_t packed);
  std::uint64_t operator[](number which) const { return states_[which]; }
  number size() const { return static_cast<number>(states_.size()); }

 private:
  static constexpr number none = ~number{0};
  static constexpr std::size_t first_slots = 1 << 16;

  std::size_t slot_of(std::uint64_t packed) const;
  void grow();

  std::vector<std::uint64_t> states_;
  std::vector<number> slots_;  // a power of two, and at least twice as many as states
};

struct findings {
  verdict found = verdict::holds;
  std::size_t states = 0;
  std::size_t steps = 0;
  std::size_t settled = 0;
  std::size_t stuck = 0;             ///< Somebody is there, and no settled state can be reached.
  bool is_complete = true;           ///< The limit of states was not reached.
  std::vector<std::string> history;  ///< A shortest way to what is wrong.
};

class search {
 public:
  search(const setup& how, std::size_t max_states) : how_(how), max_states_(max_states) {}

  findings run();

 private:
  using number = state_table::number;
  struct edge {
    number from, to;
  };

  bool explore(number which);
  void reach(number from, const step& what);
  bool judge(number which, const state& what);
  void note(verdict what, number where);
  void find_stuck();
  std::vector<bool> leading_to_settled() const;
  std::vector<std::string> history_of(number which) const;
  std::string last_step(number which) const;

  const setup how_;
  const std::size_t max_states_;
  state_table all_;
  std::vector<number> parents_;  // by state: from where it was found
  std::vector<edge> edges_;      // without trouble
  findings result_;
};

// The rules that a state can break, and what a settled state is.

/// Two members whose processes run believe at the same time.
bool do_two_believe(const state& what) {
  const auto does = [](const member& each) { return each.believes() && each.is != life::asleep; };
  return std::ranges::count_if(what.members, does) > 1;
}

/// A member believes while another one's process is stopped that did the same.
bool does_one_sleep_and_believe(const state& what) {
  return std::ranges::count_if(what.members, &member::believes) > 1;
}

/// A write under the fence of a member that is not the owner would be accepted. The fence
/// compares the version that the term knows with that of the record.
bool is_fence_broken(const state& what, const deviations& rules) {
  for (int i = 0; i < max_members; ++i) {
    const auto& each = what.members[i];
    const bool is_accepted = each.is_current || rules.is_unfenced;
    if (each.believes() && is_accepted && what.owner != i) return true;
  }
  return false;
}

/// The order, the record and the belief of one member agree, and no other one is to own the shard.
bool is_settled(const state& what) {
  if (what.owner == no_owner) return false;
  const auto& owner = what.members[what.owner];
  const auto orders = std::ranges::count_if(what.members, &member::inbox);
  return owner.is == life::alive && owner.in_term && owner.order && owner.inbox && orders == 1;
}

bool is_somebody_there(const state& what) { return std::ranges::any_of(what.members, &member::has_node); }

namespace {

std::uint64_t mixed(std::uint64_t packed) {
  packed ^= packed >> 32;
  packed *= 0x9e3779b97f4a7c15;
  return packed ^ (packed >> 29);
}

}  // namespace

/// Where the state is, or where it is to be.
std::size_t state_table::slot_of(std::uint64_t packed) const {
  const auto mask = slots_.size() - 1;
  auto slot = mixed(packed) & mask;
  while (slots_[slot] != none && states_[slots_[slot]] != packed) slot = (slot + 1) & mask;
  return slot;
}

std::pair<state_table::number, bool> state_table::insert(std::uint64_t packed) {
  auto& slot = slots_[slot_of(packed)];
  if (slot != none) return {slot, false};
  const auto added = size();
  slot = added;
  states_.push_back(packed);
  if (2 * states_.size() > slots_.size()) grow();
  return {added, true};
}

void state_table::grow() {
  slots_.assign(2 * slots_.size(), none);
  for (number i = 0; i < size(); ++i) slots_[slot_of(states_[i])] = i;
}

findings search::run() {
  all_.insert(pack(state(), how_.size));
  parents_.push_back(0);
  bool goes_on = true;
  for (number each = 0; goes_on && each < all_.size(); ++each) goes_on = explore(each);
  result_.states = all_.size();
  if (goes_on) find_stuck();
  return std::move(result_);
}

/// Returns whether to go on.
bool search::explore(number which) {
  const auto now = unpack(all_[which], how_.size);
  if (!judge(which, now)) return false;
  for (const auto& each : moment(how_, now).steps()) reach(which, each);
  result_.is_complete = all_.size() <= max_states_;
  return result_.is_complete;
}

void search::reach(number from, const step& what) {
  const auto [to, is_new] = all_.insert(pack(what.after, how_.size));
  if (is_new) parents_.push_back(from);
  if (!what.is_trouble) edges_.push_back({from, to});
  ++result_.steps;
}

/// Returns whether to go on. That a sleeper believes beside the owner is noted once: it is all right as long as the
/// fence holds.
bool search::judge(number which, const state& what) {
  if (is_fence_broken(what, how_.rules)) {
    note(verdict::fence_fails, which);
    return false;
  }
  if (do_two_believe(what)) {
    note(verdict::two_believe, which);
    return false;
  }
  if (result_.found == verdict::holds && does_one_sleep_and_believe(what)) note(verdict::fence_holds, which);
  return true;
}

void search::note(verdict what, number where) {
  result_.found = what;
  result_.history = history_of(where);
}

void search::find_stuck() {
  const auto leads = leading_to_settled();
  for (number each = 0; each < all_.size(); ++each) {
    const auto now = unpack(all_[each], how_.size);
    result_.settled += is_settled(now) ? 1 : 0;
    if (leads[each] || !is_somebody_there(now)) continue;
    if (result_.stuck++ == 0) note(verdict::gets_stuck, each);
  }
}

/// Goes backwards from the settled states. The edges are sorted by where they lead, so that those to a state stand
/// together.
std::vector<bool> search::leading_to_settled() const {
  std::vector<std::size_t> ends(all_.size() + 1);
  for (const auto& each : edges_) ++ends[each.to];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<number> sources(edges_.size());
  for (const auto& each : edges_) sources[--ends[each.to]] = each.from;  // now they are beginnings
  std::vector<bool> leads(all_.size());
  std::vector<number> reached;
  const auto reach = [&](number which) {
    if (leads[which]) return;
    leads[which] = true;
    reached.push_back(which);
  };
  for (number each = 0; each < all_.size(); ++each) {
    if (is_settled(unpack(all_[each], how_.size))) reach(each);
  }
  while (!reached.empty()) {
    const auto to = reached.back();
    reached.pop_back();
    for (auto i = ends[to]; i < ends[to + 1]; ++i) reach(sources[i]);
  }
  return leads;
}

std::vector<std::string> search::history_of(number which) const {
  std::vector<std::string> steps;
  for (; which != 0; which = parents_[which]) steps.push_back(last_step(which));
  std::ranges::reverse(steps);
  return steps;
}

std::string search::last_step(number which) const {
  const auto before = unpack(all_[parents_[which]], how_.size);
  const auto steps = moment(how_, before).steps();
  const auto taken =
      std::ranges::find(steps, all_[which], [&](const step& each) { return pack(each.after, how_.size); });
  return to_text(*taken);
}

}  // namespace model

namespace {

using namespace model;

struct wishes {
  group_size size;
  std::string variant = variants().front().name;
  bool pauses = false;
  bool all = false;
  bool history = false;
  std::size_t max_states = 40'000'000;
};

void report(const variant& what, const findings& found, double seconds) {
  const char* const limited = found.is_complete ? "" : " as far as the limit of states";
  const char* const surprise = found.found == what.expected ? "" : ", WHICH IS NOT EXPECTED";
  std::printf("%-20s %s%s%s", what.name.c_str(), to_text(found.found), limited, surprise);
  std::printf(" (%s): %zu states, %zu steps", what.text.c_str(), found.states, found.steps);
  if (found.settled > 0) std::printf(", %zu settled, %zu stuck", found.settled, found.stuck);
  std::printf(", %.1f s\n", seconds);
}

/// Returns whether that is found which is expected.
bool try_variant(variant what, const wishes& asked) {
  if (asked.pauses && what.expected == verdict::holds) what.expected = verdict::fence_holds;
  what.rules.pauses |= asked.pauses;
  const auto began = std::chrono::steady_clock::now();
  const auto found = search({asked.size, what.rules}, asked.max_states).run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  const bool is_expected = found.found == what.expected;
  report(what, found, took.count());
  if (asked.history || !is_expected) {
    for (const auto& each : found.history) std::printf("  %s\n", each.c_str());
  }
  std::fflush(stdout);
  return is_expected;
}

bool try_all(const wishes& asked) {
  const auto wrong = std::ranges::count_if(variants(), [&](const auto& each) { return !try_variant(each, asked); });
  return wrong == 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Tries all interleavings of the protocol of a shard group.", "shard_model");
  wishes asked;
  std::vector<std::string> names;
  for (const auto& each : variants()) names.push_back(each.name);
  app.add_option("--members", asked.size.members, "3 need a single planner, minutes and gigabytes")
      ->check(CLI::Range(1, max_members))
      ->capture_default_str();
  app.add_option("--planners", asked.size.planners)->check(CLI::Range(1, max_planners))->capture_default_str();
  app.add_option("--variant", asked.variant)->check(CLI::IsMember(names))->capture_default_str();
  app.add_flag("--pauses", asked.pauses, "Processes may sleep for longer than their leases");
  app.add_flag("--all", asked.all, "The protocol and all variants in turn");
  app.add_flag("--history", asked.history, "Print a shortest way to what is found");
  app.add_option("--states", asked.max_states, "At most so many")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (asked.size.members + asked.size.planners == max_members + max_planners)
    return app.exit(CLI::ValidationError("3 members need a single planner"));
  return (asked.all ? try_all(asked) : try_variant(variant_of(asked.variant), asked)) ? 0 : 1;
}
