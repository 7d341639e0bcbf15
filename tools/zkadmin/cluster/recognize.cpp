#include "cluster/recognize.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "cluster/queue_status.hpp"
#include "cluster/stored_record.hpp"

namespace zkadmin {

std::string_view before_sequence(std::string_view name) noexcept {
  constexpr std::size_t digits = 10;
  if (name.size() <= digits) return {};
  const auto number = name.substr(name.size() - digits);
  const bool is_number = std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? name.substr(0, name.size() - digits) : std::string_view{};
}

namespace {

bool is_number(std::string_view name) noexcept {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_shard_name(std::string_view name) noexcept { return name.size() == 4 && is_number(name); }

constexpr std::string_view protected_begin = "_c_";
constexpr std::string_view leaf_begins[] = {protected_begin, "qn-", "entry-", "at-", "_claim-", "_end-"};
constexpr std::string_view curators_item = "queue-";
constexpr std::string_view leaf_ends[] = {"__lock__", "__rlock__"};
// The election of the planners is not among them: it is one that people want to see.
constexpr std::string_view parts_of_groups[] = {"member", "away", "shard", "quarantine", "frozen", "map"};

constexpr recipe recipes[] = {
    recipe::election,       recipe::shard_group,    recipe::topic,           recipe::two_phase_commit, recipe::lock,
    recipe::semaphore,      recipe::barrier,        recipe::double_barrier,  recipe::read_write_lock,  recipe::queue,
    recipe::service,        recipe::membership,     recipe::persistent_node, recipe::shared_gate,      recipe::once_per,
    recipe::shared_balance, recipe::shared_limiter, recipe::stream};

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
  const auto size = rest.substr(rest.rfind('-') + 1);
  return !size.empty() && std::all_of(size.begin(), size.end(), [](char c) { return c >= '0' && c <= '9'; });
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
  return name == "_idle" || name == "_dead" || name == "_gate" || name.starts_with("_producer-") ||
         before_sequence(name).starts_with("_claim-");
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

std::span<const recipe> all_recipes() noexcept { return recipes; }

std::span<const recipe> other_recipes() noexcept {
  constexpr std::size_t with_own_surveys = 4;  // They stand first.
  return std::span(recipes).subspan(with_own_surveys);
}

const char* to_string(recipe which) noexcept {
  switch (which) {
    case recipe::none: return "none";
    case recipe::election: return "election";
    case recipe::shard_group: return "shard group";
    case recipe::topic: return "topic";
    case recipe::two_phase_commit: return "two-phase commit";
    case recipe::lock: return "lock";
    case recipe::read_write_lock: return "read-write lock";
    case recipe::semaphore: return "semaphore";
    case recipe::barrier: return "barrier";
    case recipe::double_barrier: return "double barrier";
    case recipe::queue: return "queue";
    case recipe::membership: return "membership";
    case recipe::service: return "service";
    case recipe::persistent_node: return "persistent node";
    case recipe::shared_gate: return "shared gate";
    case recipe::once_per: return "once per period";
    case recipe::shared_balance: return "shared balance";
    case recipe::shared_limiter: return "shared limiter";
    case recipe::stream: return "stream";
  }
  return "none";
}

std::string identifier_of(recipe which) {
  std::string text = to_string(which);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  return text;
}

std::optional<recipe> recipe_named(std::string_view name) {
  std::string wanted(name);
  std::replace_if(
      wanted.begin(), wanted.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  for (const auto each : recipes)
    if (identifier_of(each) == wanted) return each;
  return std::nullopt;
}

std::string recipe_names() {
  std::string all;
  for (const auto each : recipes) all += (all.empty() ? "" : ", ") + identifier_of(each);
  return all;
}

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
  std::array<std::size_t, std::size(recipes) + 1> votes{};
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
  if (which == recipe::queue) return is_item_name(name) || name.starts_with('_');
  if (which == recipe::shared_gate) return is_number(name);
  if (which == recipe::once_per) return is_number(name) || name == "_once_clock";
  if (which != recipe::shard_group) return false;
  return std::find(std::begin(parts_of_groups), std::end(parts_of_groups), name) != std::end(parts_of_groups);
}

}  // namespace zkadmin
