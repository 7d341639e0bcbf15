#include "security/access_cures.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cluster/acl_text.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

using zkrecipes::acl;
using zkrecipes::acl_entry;

constexpr std::size_t longest_shown_entries = 200;
constexpr const char* no_word = "zkCli.sh can not name this path: use another client, and set auth::cdrwa";

void append_entry(std::string& list, const std::string& entry) { list += (list.empty() ? "" : ",") + entry; }

/// The entries that a cure has to keep.
acl others_in(const acl& access) {
  acl others;
  std::copy_if(access.begin(), access.end(), std::back_inserter(others),
               [](const acl_entry& each) { return !is_everybody(each); });
  return sorted(std::move(others));
}

/// Entries without hashes, each once.
std::string shown_entries(const std::vector<const acl*>& all) {
  std::set<std::string> entries;
  for (const auto* access : all)
    for (const auto& each : others_in(*access)) entries.insert(holder_of(each) + ":" + letters_of(each.permissions));
  std::string text;
  for (const auto& each : entries) append_entry(text, each);
  return shortened(text, longest_shown_entries);
}

/// As zkCli.sh reads it. Nothing: the id is not shown in full, or it has characters that zkCli.sh takes as its own.
std::optional<std::string> entry_for_command(const acl_entry& each) {
  if (each.scheme == "digest" || each.scheme == "super") return std::nullopt;
  const auto text = each.scheme + ":" + each.id + ":" + letters_of(each.permissions);
  const auto is_plain = [](char c) {
    return c > ' ' && c < 0x7F && std::string("\"',|!\\").find(c) == std::string::npos;
  };
  if (!std::all_of(text.begin(), text.end(), is_plain)) return std::nullopt;
  return text;
}

std::optional<std::string> entries_for_command(const acl& entries) {
  std::string text;
  for (const auto& each : entries) {
    const auto one = entry_for_command(each);
    if (!one) return std::nullopt;
    append_entry(text, *one);
  }
  return text;
}

/// What all of the ACLs have besides the entries of everybody; those that have nothing else do not count. Nothing: they
/// differ, and one ACL for all would take rights away.
std::optional<acl> common_entries(const std::vector<const acl*>& all) {
  std::optional<acl> common;
  for (const auto* access : all) {
    const auto others = others_in(*access);
    if (others.empty()) continue;
    if (common && *common != others) return std::nullopt;
    common = others;
  }
  return common ? common : acl{};
}

std::vector<const acl*> all_of(const recipe_rights& seen) {
  std::vector<const acl*> all;
  if (seen.own) all.push_back(&*seen.own);
  for (const auto& each : seen.nodes) all.push_back(&each.rights);
  return all;
}

bool has_side(const recipe_rights& seen) {
  const auto side = side_of_queue(seen.path);
  return seen.which == recipe::queue && std::any_of(seen.nodes.begin(), seen.nodes.end(), [&side](const auto& each) {
           return each.path == side || each.path.starts_with(side + "/");
         });
}

std::string in_words(const std::vector<const acl*>& all, const std::string& places) {
  const auto kept = shown_entries(all);
  return "getAcl, then setAcl " + places + " with auth::cdrwa and all present entries but those of everybody" +
         (kept.empty() ? "" : "; keep: " + kept);
}

/// One command for each of the recipe's places.
std::string commands_for(const recipe_rights& seen, const std::string& more) {
  const bool is_recursive = seen.which != recipe::none;
  const auto first = set_acl_command(seen.path, is_recursive, more);
  if (!first) return no_word;
  if (!has_side(seen)) return *first;
  const auto second = set_acl_command(side_of_queue(seen.path), true, more);
  return second ? *first + "; " + *second : no_word;
}

}  // namespace

std::string cure_of_recipe(const recipe_rights& seen) {
  const auto all = all_of(seen);
  const auto common = common_entries(all);
  const auto more = common ? entries_for_command(*common) : std::nullopt;
  const bool is_each = seen.which == recipe::none && !seen.nodes.empty();
  if (more && seen.own && !is_each) return commands_for(seen, *more);
  auto places = std::string("at this node") + (seen.nodes.empty() ? "" : " and at each below it");
  if (has_side(seen)) places += " and below " + side_of_queue(seen.path);
  return in_words(all, places);
}

std::string cure_of_node(const node_access& seen) {
  const bool is_read = (rights_of_everybody(seen.rights) & zkrecipes::perm_read) != 0;
  auto more = entries_for_command(others_in(seen.rights));
  if (!more) return in_words({&seen.rights}, "at this node") + (is_read ? ", world:anyone:r" : "");
  if (is_read) append_entry(*more, "world:anyone:r");
  return set_acl_command(seen.path, false, *more).value_or(no_word);
}

std::string cure_by_adding(const std::string& right, const std::string& holder) {
  return "give " + right + " to " + holder + " besides the present entries (getAcl, then setAcl with all of them)";
}

std::string cure_of_mixture(const recipe_rights& seen) {
  return "give all of its nodes one ACL with all of these entries (getAcl, then setAcl): " +
         shown_entries(all_of(seen));
}

}  // namespace zkadmin
