#include "cluster/recognize.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "cluster/nodes.hpp"
#include "cluster/queue.hpp"
#include "cluster/stored_record.hpp"
#include "queue/queue_layout.hpp"

namespace zkadmin {

namespace {

bool is_number(std::string_view name) noexcept {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string_view before_sequence(std::string_view name) noexcept {
  constexpr std::size_t digits = 10;
  const bool has_number = name.size() > digits && is_number(name.substr(name.size() - digits));
  return has_number ? name.substr(0, name.size() - digits) : std::string_view{};
}

namespace {

bool is_shard_name(std::string_view name) noexcept { return name.size() == 4 && is_number(name); }

constexpr std::string_view protected_begin = "_c_";
constexpr std::string_view leaf_begins[] = {protected_begin, "qn-", "entry-", "at-", "_claim-", "_end-"};
constexpr std::string_view curators_item = "queue-";
constexpr std::string_view leaf_ends[] = {"__lock__", "__rlock__"};
// The election of the planners is not among them: it is one that people want to see.
constexpr std::string_view parts_of_groups[] = {"member", "away", "shard", "quarantine", "frozen", "map"};

/// `_c_<guid><middle>`, without the sequence number.
bool is_protected(std::string_view begin, std::string_view middle) noexcept {
  return begin.size() > protected_begin.size() + middle.size() && begin.starts_with(protected_begin) &&
         begin.ends_with(middle);
}

/// `_c_<guid>-<size>-member-`. The members of a shard group have no size.
bool is_round_member(std::string_view begin) noexcept {
  constexpr std::string_view middle = "-member-";
  if (!is_protected(begin, middle)) return false;
  const auto rest = begin.substr(0, begin.size() - middle.size());
  return is_number(rest.substr(rest.rfind('-') + 1));
}

/// Whether the record is that of a source of messages outside of ZooKeeper.
bool is_source(std::string_view kind) noexcept {
  constexpr std::string_view sources[] = {"redis_streams", "rabbit_queues", "external_log", "external_queue"};
  return std::find(std::begin(sources), std::end(sources), kind) != std::end(sources);
}

constexpr std::string_view kazoos_lock = "__lock__";

/// Whether a node of this name, which is no item, stands in a queue. Topics and streams have `_dead`, too: their own
/// data tells what they are.
bool is_mark_of_queue(std::string_view name) noexcept {
  using namespace zkrecipes::detail;
  return name == idle_folder || name == dead_folder || name == parked_folder || name == gate_name ||
         name.starts_with(producer_prefix) || before_sequence(name).starts_with(claim_prefix);
}

recipe recipe_of_child(std::string_view name) noexcept {
  const auto begin = before_sequence(name);
  if (is_protected(begin, "-lock-") || begin.ends_with(kazoos_lock)) return recipe::lock;
  if (begin.ends_with("__READ__") || begin.ends_with("__WRIT__") || begin.ends_with("__rlock__"))
    return recipe::read_write_lock;
  if (is_protected(begin, "-permit-")) return recipe::semaphore;
  if (is_round_member(begin)) return recipe::double_barrier;
  if (is_item_name(name) || is_mark_of_queue(name)) return recipe::queue;
  return name.ends_with("__party__") ? recipe::membership : recipe::none;  // kazoo's Party
}

}  // namespace

bool is_candidate_name(std::string_view name) noexcept { return is_protected(before_sequence(name), "-latch-"); }

bool is_lease_name(std::string_view name) noexcept { return is_protected(before_sequence(name), "-lease-"); }

bool is_leaf_name(std::string_view name) noexcept {
  const auto begin = before_sequence(name);
  return begin == curators_item ||
         std::any_of(std::begin(leaf_begins), std::end(leaf_begins),
                     [begin](auto each) { return begin.starts_with(each); }) ||
         std::any_of(std::begin(leaf_ends), std::end(leaf_ends), [begin](auto each) { return begin.ends_with(each); });
}

recipe recipe_of(std::string_view data) {
  const auto record = parse_stored(data);
  const auto kind = text_field(record, "zkrecipes");
  if (kind == "term") return recipe::election;
  if (kind == "shards") return recipe::shard_group;
  if (kind == "two_phase_commit") return recipe::two_phase_commit;
  if (kind == "topic") return recipe::topic;
  if (is_source(kind)) return recipe::stream;
  if (kind == "barrier") return recipe::barrier;
  if (kind == "double_barrier") return recipe::double_barrier;
  if (kind == "shared_gate") return recipe::shared_gate;
  if (kind == "once_per") return recipe::once_per;
  if (kind == "shared_balance") return recipe::shared_balance;
  // Older versions have marked it by another field.
  const bool is_semaphore = kind == "semaphore" || (kind.empty() && text_field(record, "recipe") == "semaphore");
  return is_semaphore ? recipe::semaphore : recipe::none;
}

bool is_record(std::string_view data) { return !text_field(parse_stored(data), "zkrecipes").empty(); }

recipe recipe_among(const std::vector<std::string>& children) {
  std::array<std::size_t, static_cast<std::size_t>(recipe::stream) + 1> votes{};  // stream: the last one
  std::size_t kazoos = 0;
  for (const auto& each : children) {
    ++votes[static_cast<std::size_t>(recipe_of_child(each))];
    kazoos += before_sequence(each).ends_with(kazoos_lock);
  }
  auto& locks = votes[static_cast<std::size_t>(recipe::lock)];
  auto& others = votes[static_cast<std::size_t>(recipe::read_write_lock)];
  if (others > 0) {  // kazoo's writers bear the names of its locks
    locks -= kazoos;
    others += kazoos;
  }
  const auto most = std::max_element(votes.begin() + 1, votes.end());
  return *most > 0 ? static_cast<recipe>(most - votes.begin()) : recipe::none;
}

bool is_part_of(recipe which, std::string_view name) noexcept {
  if (which == recipe::topic || which == recipe::stream)
    return name == "_producers" || name == "_dead" || is_shard_name(name);
  // All but the election of the coordinators: transactions, and folders of marks.
  if (which == recipe::two_phase_commit) return name != "_coordinator";
  // A line of Curator's or of ours begins its names with _c_.
  if (which == recipe::queue) return is_item_name(name) || (name.starts_with('_') && !name.starts_with("_c_"));
  if (which == recipe::shared_gate) return is_number(name);
  if (which == recipe::once_per) return is_number(name) || name == "_once_clock";
  if (which != recipe::shard_group) return false;
  return std::find(std::begin(parts_of_groups), std::end(parts_of_groups), name) != std::end(parts_of_groups);
}

namespace {

std::string without_end(const std::string& path, std::string_view end) {
  return path.substr(0, path.size() - end.size());
}

constexpr std::string_view limit_of_balance = "/limit", members_of_balance = "/members";

recipe_place place_of_queue(const std::string& path, const std::vector<std::string>& children) {
  constexpr std::string_view side = "-side", taken = "/taken";
  const bool has_items = std::any_of(children.begin(), children.end(), is_item_name);
  // The folder beside a priority queue.
  if (path.ends_with(side) && !has_items) return {recipe::queue, without_end(path, side)};
  // The claims of kazoo's LockingQueue bear the names of the items.
  if (path.ends_with(taken)) return {recipe::queue, without_end(path, taken) + "/entries"};
  return {recipe::queue, path};
}

}  // namespace

recipe_paths paths_of(const std::map<std::string, recipe_place>& told) {
  recipe_paths all;
  for (const auto& [node, place] : told) all[place.which].push_back(place.path);
  for (auto& [which, paths] : all) {
    std::sort(paths.begin(), paths.end());
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  }
  const auto is_found = [&all](recipe which, const std::string& path) {
    const auto& paths = all[which];
    return std::binary_search(paths.begin(), paths.end(), path);
  };
  std::erase_if(all[recipe::lock], [&](const auto& path) {
    return path.ends_with(inner_locks) && is_found(recipe::semaphore, without_end(path, inner_locks));
  });
  std::erase_if(all[recipe::membership], [&](const auto& path) {
    return path.ends_with(members_of_balance) &&
           is_found(recipe::shared_balance, without_end(path, members_of_balance));
  });
  // A node with members of its own recipe has no other members.
  std::erase_if(all[recipe::membership], [&](const auto& path) {
    const auto is_another = [&](recipe which) { return which != recipe::membership && is_found(which, path); };
    return std::any_of(all_recipes().begin(), all_recipes().end(), is_another);
  });
  return all;
}

recipe_place place_of(recipe which, const std::string& path, const std::vector<std::string>& children) {
  constexpr std::string_view leases = "/leases";
  if (path.ends_with(leases) && std::any_of(children.begin(), children.end(), is_lease_name))
    return {recipe::semaphore, without_end(path, leases)};
  if (path.ends_with(kazoos_inner_lock)) return {recipe::semaphore, without_end(path, kazoos_inner_lock)};
  // The path of a balance itself holds nothing.
  if (which == recipe::shared_balance && path.ends_with(limit_of_balance))
    return {which, without_end(path, limit_of_balance)};
  return which == recipe::queue ? place_of_queue(path, children) : recipe_place{which, path};
}

}  // namespace zkadmin
