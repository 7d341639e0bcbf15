#include "cluster/recognize.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "cluster/stored_record.hpp"

namespace zkadmin {

namespace {

/// The part of a name before the server's sequence number; empty if the name does not end in ten digits.
std::string_view before_sequence(std::string_view name) noexcept {
  constexpr std::size_t digits = 10;
  if (name.size() <= digits) return {};
  const auto number = name.substr(name.size() - digits);
  const bool is_number = std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? name.substr(0, name.size() - digits) : std::string_view{};
}

bool is_shard_name(std::string_view name) noexcept {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return name.size() == 4 && std::all_of(name.begin(), name.end(), is_digit);
}

constexpr std::string_view protected_begin = "_c_";
constexpr std::string_view leaf_begins[] = {protected_begin, "qn-", "entry-", "at-", "_claim-", "_end-"};
constexpr std::string_view leaf_ends[] = {"__lock__", "__rlock__"};
// The election of the planners is not among them: it is one that people want to see.
constexpr std::string_view parts_of_groups[] = {"member", "away", "shard", "quarantine", "frozen", "map"};

}  // namespace

bool is_candidate_name(std::string_view name) noexcept {
  constexpr std::string_view middle = "-latch-";
  const auto begin = before_sequence(name);
  return begin.size() > protected_begin.size() + middle.size() && begin.starts_with(protected_begin) &&
         begin.ends_with(middle);
}

bool is_leaf_name(std::string_view name) noexcept {
  const auto begin = before_sequence(name);
  return std::any_of(std::begin(leaf_begins), std::end(leaf_begins),
                     [begin](auto each) { return begin.starts_with(each); }) ||
         std::any_of(std::begin(leaf_ends), std::end(leaf_ends), [begin](auto each) { return begin.ends_with(each); });
}

recipe recipe_of(std::string_view data) {
  const auto kind = text_field(parse_stored(data), "zkrecipes");
  if (kind == "term") return recipe::election;
  if (kind == "shards") return recipe::shard_group;
  if (kind == "two_phase_commit") return recipe::two_phase_commit;
  return kind == "topic" ? recipe::topic : recipe::none;
}

bool is_part_of(recipe which, std::string_view name) noexcept {
  if (which == recipe::topic) return name == "_producers" || name == "_dead" || is_shard_name(name);
  // All but the election of the coordinators: transactions, and folders of marks.
  if (which == recipe::two_phase_commit) return name != "_coordinator";
  if (which != recipe::shard_group) return false;
  return std::find(std::begin(parts_of_groups), std::end(parts_of_groups), name) != std::end(parts_of_groups);
}

}  // namespace zkadmin
