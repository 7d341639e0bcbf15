#include "security/access_rules.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <zkrecipes/node.hpp>

#include "base/text.hpp"
#include "cluster/acl_text.hpp"
#include "cluster/nodes.hpp"

namespace zkadmin {
namespace {

/// Null: it means nothing for this recipe.
struct meaning {
  recipe which;
  const char* create;
  const char* remove;
  const char* write_path;
  const char* write_node;
  const char* read;
};

constexpr const char* asking_holders = "ask the holders to give up";
constexpr const char* spoil_record = "spoil the record, so that clients refuse the path";

constexpr meaning meanings[] = {
    {recipe::none, "create nodes", "delete nodes", "change the data", "change the data", "read the data"},
    {recipe::lock, "stand in line and so block others", "delete the nodes of holders, so that two hold", nullptr,
     asking_holders, "read who holds and who waits"},
    {recipe::read_write_lock, "stand in line and so block others", "delete the nodes of holders, so that two hold",
     nullptr, asking_holders, "read who holds and who waits"},
    {recipe::semaphore, "take permits", "delete the nodes of holders, so that too many hold",
     "change the number of permits", asking_holders, "read who holds and who waits"},
    {recipe::election, "stand for election and so block others", "delete the leader's node, so that two lead",
     "forge the record of the term", "ask the leader to give up", "read who leads and who waits"},
    {recipe::double_barrier, "enter, and so open rounds too early", "delete members, so that rounds do not open",
     "forge the record of the round", nullptr, "read who takes part"},
    {recipe::barrier, nullptr, nullptr, spoil_record, nullptr, "read its data"},
    {recipe::queue, "put items, and claim those of others", "delete items and claims", nullptr, "change items",
     "read all items"},
    {recipe::topic, "put messages", "delete messages and positions", spoil_record,
     "move positions, so that messages are skipped or come again", "read all messages"},
    {recipe::stream, nullptr, "delete positions and dead letters", spoil_record,
     "change what is settled, so that messages are skipped or come again", "read dead letters"},
    {recipe::shard_group, "join, and so be given shards", "delete members and the records of shards", spoil_record,
     "forge the records of shards and the planner's orders", "read who owns what"},
    {recipe::shared_limiter, "join, and so take a part of the rate", "delete members and the records of shards",
     spoil_record, "forge the records of shards and the planner's orders", "read who takes part"},
    {recipe::two_phase_commit, "begin transactions, and vote for others", "delete transactions and votes", spoil_record,
     "decide transactions", "read the data of transactions"},
    {recipe::membership, "pretend to be members", "delete members", nullptr, "change the data of members",
     "read the data of members"},
    {recipe::service, "register false instances, to which clients connect", "delete instances", nullptr,
     "lead clients to other addresses", "read the addresses of instances"},
    {recipe::persistent_node, nullptr, nullptr, "change the data", nullptr, "read the data"},
    {recipe::shared_gate, "hold keys, and so stop their messages", "delete callers, so that duplicates pass",
     spoil_record, nullptr, "read who processes what"},
    {recipe::once_per, "claim keys, so that calls are not made", "delete claims, so that calls are repeated",
     spoil_record, "write over claims", "read keys and notes"},
    {recipe::shared_balance, "join and not move, so that all wait", "delete members, so that others run ahead",
     spoil_record, "set the limit and the floors", "read who takes part"},
};

const meaning& find_meaning(recipe which) noexcept {
  const auto is_it = [which](const auto& each) { return each.which == which; };
  const auto found = std::find_if(std::begin(meanings), std::end(meanings), is_it);
  return found == std::end(meanings) ? meanings[0] : *found;
}

/// Whether nodes below its path have children of their own, so that it means something who may create or delete these.
bool has_folders(recipe which) noexcept {
  constexpr recipe with_folders[] = {recipe::none,           recipe::topic,          recipe::shard_group,
                                     recipe::shared_limiter, recipe::shared_gate,    recipe::two_phase_commit,
                                     recipe::once_per,       recipe::shared_balance, recipe::stream};
  return std::find(std::begin(with_folders), std::end(with_folders), which) != std::end(with_folders);
}

}  // namespace

std::string meaning_of(recipe which, std::int32_t rights, bool is_path) {
  const auto& known = find_meaning(which);
  std::string text;
  const auto add = [&](zkrecipes::permission right, const char* what) {
    if ((rights & right) && what) append_to_list(text, what);
  };
  if (is_path || has_folders(which)) {
    add(zkrecipes::perm_create, known.create);
    add(zkrecipes::perm_delete, known.remove);
  }
  add(zkrecipes::perm_write, is_path ? known.write_path : known.write_node);
  add(zkrecipes::perm_admin, "lock out its owners by another ACL");
  if (text.empty()) add(zkrecipes::perm_read, known.read);
  return text.empty() ? "create and delete nodes below it" : text;
}

bool is_single_node(recipe which) noexcept { return which == recipe::barrier || which == recipe::persistent_node; }

bool is_line(recipe which) noexcept {
  constexpr recipe lines[] = {recipe::lock,     recipe::read_write_lock, recipe::semaphore,
                              recipe::election, recipe::double_barrier,  recipe::shared_gate};
  return std::find(std::begin(lines), std::end(lines), which) != std::end(lines);
}

namespace {

using zkrecipes::acl;
using zkrecipes::acl_entry;

constexpr std::int32_t changing =
    zkrecipes::perm_create | zkrecipes::perm_delete | zkrecipes::perm_write | zkrecipes::perm_admin;

/// Adds problems of one recipe.
struct recipe_judgement {
  const recipe_rights& seen;
  problem_list found{};

  void add(const char* name, severity how_bad, std::string text, std::string cure) {
    found.push_back({name, how_bad, seen.path, std::move(text), std::move(cure)});
  }
};

/// How many of the nodes give everybody one of these rights, and which rights those are together.
struct open_nodes {
  std::size_t count = 0;
  std::int32_t rights = 0;
  std::string example{};
};

open_nodes nodes_open_to(const recipe_rights& seen, std::int32_t wanted) {
  open_nodes open;
  for (const auto& each : seen.nodes) {
    const auto rights = rights_of_everybody(each.rights);
    if (!(rights & wanted)) continue;
    if (open.count++ == 0) open.example = name_of(each.path);
    open.rights |= rights;
  }
  return open;
}

std::string share_of_nodes(const open_nodes& open, const recipe_rights& seen) {
  return std::to_string(open.count) + " of the " + std::to_string(seen.nodes.size()) + " nodes below it";
}

// A node that is no recipe is judged as a parent is.
void judge_changes(recipe_judgement& about) {
  const auto& seen = about.seen;
  const bool is_recipe = seen.which != recipe::none;
  const auto own = seen.own && is_recipe ? rights_of_everybody(*seen.own) : 0;
  const auto nodes = nodes_open_to(seen, changing);
  if (own & changing) {
    auto text = "everybody has " + letters_of(own) + " at this " + to_string(seen.which);
    if (nodes.count > 0) text += ", and " + letters_of(nodes.rights) + " at " + share_of_nodes(nodes, seen);
    text += ", and so may " + meaning_of(seen.which, own, true);
    about.add("open-path", severity::critical, std::move(text), cure_of_recipe(seen));
  } else if (nodes.count > 0) {
    about.add("open-nodes", is_recipe ? severity::critical : severity::warning,
              "everybody has " + letters_of(nodes.rights) + " at " + share_of_nodes(nodes, seen) + ", such as " +
                  nodes.example + ", and so may " + meaning_of(seen.which, nodes.rights, false),
              cure_of_recipe(seen));
  }
}

// Only if that is all that everybody may do: else the problem above is cured by the same command.
void judge_reading(recipe_judgement& about) {
  const auto& seen = about.seen;
  const auto own = seen.own ? rights_of_everybody(*seen.own) : 0;
  const auto nodes = nodes_open_to(seen, zkrecipes::perm_read);
  if ((own & changing) || (nodes_open_to(seen, changing).count > 0)) return;
  if (!(own & zkrecipes::perm_read) && nodes.count == 0) return;
  auto text = "everybody may " + meaning_of(seen.which, zkrecipes::perm_read, true);
  if (nodes.count > 0) text += ", at " + share_of_nodes(nodes, seen);
  about.add("open-to-read", severity::warning, std::move(text), cure_of_recipe(seen));
}

void judge_addresses(recipe_judgement& about) {
  std::set<std::string> broad;
  const auto look_at = [&broad](const acl& access) {
    for (const auto& each : access)
      if (is_broad(each) && (each.permissions & changing))
        broad.insert(holder_of(each) + ":" + letters_of(each.permissions));
  };
  if (about.seen.own) look_at(*about.seen.own);
  for (const auto& each : about.seen.nodes) look_at(each.rights);
  if (broad.empty()) return;
  about.add(
      "broad-addresses", severity::warning,
      *broad.begin() + (broad.size() > 1 ? " and others hold" : " holds") +
          " for every client of many machines, and for all that come through a proxy there",
      "give these clients a digest or certificates in entries of their own, and take this one out when none needs "
      "it (getAcl, then setAcl with all others)");
}

/// The ACLs of nodes in the same folder, with a node that has each.
using acls_by_folder = std::map<std::string, std::map<std::string, std::string>>;

acls_by_folder acls_of(const recipe_rights& seen) {
  acls_by_folder all;
  for (const auto& each : seen.nodes) {
    const auto name = name_of(each.path);
    if (name.starts_with('_') && !name.starts_with("_c_")) continue;  // folders and notes of a recipe, not its members
    std::string key;
    for (const auto& entry : sorted(each.rights))
      key += entry.scheme + ":" + entry.id + ":" + std::to_string(entry.permissions) + "\n";
    all[parent_of(each.path)].emplace(std::move(key), each.path);
  }
  return all;
}

void judge_mixture(recipe_judgement& about) {
  const auto& seen = about.seen;
  if (!is_line(seen.which) && seen.which != recipe::queue) return;
  const auto acl_at = [&seen](const std::string& path) {
    const auto is_it = [&path](const auto& each) { return each.path == path; };
    return to_text(std::find_if(seen.nodes.begin(), seen.nodes.end(), is_it)->rights);
  };
  for (const auto& [folder, acls] : acls_of(seen)) {
    if (acls.size() < 2) continue;
    const auto &one = acls.begin()->second, &other = std::next(acls.begin())->second;
    about.add("mixed-acls", severity::warning,
              "its nodes have " + std::to_string(acls.size()) + " different ACLs: " + acl_at(one) + " at " +
                  name_of(one) + ", " + acl_at(other) + " at " + name_of(other) +
                  "; clients that may not read a node can not wait for it, nor take it",
              cure_of_mixture(seen));
    return;
  }
}

// Deleting a node takes DELETE at its parent.
void judge_leaving(recipe_judgement& about) {
  const auto& seen = about.seen;
  if (!is_line(seen.which) || !seen.own) return;
  for (const auto& each : *seen.own) {
    const auto gives_delete = [&each](const acl_entry& other) {
      return (other.permissions & zkrecipes::perm_delete) && holds_for(other, each);
    };
    if (!(each.permissions & zkrecipes::perm_create) || std::any_of(seen.own->begin(), seen.own->end(), gives_delete))
      continue;
    about.add(
        "no-way-out", severity::critical,
        holder_of(each) +
            " may get in line and may not leave it, because DELETE is missing: what it holds ends with its session",
        cure_by_adding("DELETE", holder_of(each)));
    return;
  }
}

void judge_administration(recipe_judgement& about) {
  if (!about.seen.own) return;
  const auto is_admin = [](const acl_entry& each) { return (each.permissions & zkrecipes::perm_admin) != 0; };
  if (std::any_of(about.seen.own->begin(), about.seen.own->end(), is_admin)) return;
  about.add("fixed-acl", severity::warning,
            "nobody may change this ACL: " + to_text(*about.seen.own) + "; only a super user of the servers could",
            "as the super user: " + cure_by_adding("ADMIN", "its owner"));
}

/// The recipes directly below a path.
std::vector<const recipe_rights*> recipes_below(const access_survey& seen, const std::string& path) {
  std::vector<const recipe_rights*> below;
  for (const auto& each : seen.recipes)
    if (each.path != "/" && each.which != recipe::none && parent_of(each.path) == path) below.push_back(&each);
  return below;
}

problem parent_problem(const access_survey& seen, const node_access& parent, std::int32_t rights) {
  const auto below = recipes_below(seen, parent.path);
  const auto is_single = [](const auto* each) { return is_single_node(each->which); };
  const auto single = std::find_if(below.begin(), below.end(), is_single);
  const bool is_bad = single != below.end() && (rights & (zkrecipes::perm_create | zkrecipes::perm_delete));
  const auto count = std::to_string(below.size()) + (below.size() == 1 ? " recipe" : " recipes");
  std::string text = "everybody has " + letters_of(rights) + (below.empty() ? " here" : " at this parent of " + count) +
                     ", and so may create nodes until the servers' memory is full, and delete nodes that are empty";
  if (is_bad)
    text += std::string("; the ") + to_string((*single)->which) + " " + name_of((*single)->path) +
            " is nothing but such a node";
  return {"open-parent", is_bad ? severity::critical : severity::warning, parent.path, std::move(text),
          cure_of_node(parent)};
}

/// The parents, and the nodes that were asked for and are no recipes, each once.
std::vector<node_access> with_named_nodes(const access_survey& seen) {
  auto all = seen.parents;
  for (const auto& each : seen.recipes) {
    const auto is_it = [&each](const auto& parent) { return parent.path == each.path; };
    if (each.which == recipe::none && each.own && std::none_of(all.begin(), all.end(), is_it))
      all.push_back({each.path, *each.own});
  }
  return all;
}

/// Whether an ACL goes by what can be read, or taken, on the way of a plain connection.
bool needs_secure_connection(const acl& access) {
  return std::any_of(access.begin(), access.end(),
                     [](const auto& each) { return each.scheme == "digest" || each.scheme == "ip"; });
}

}  // namespace

problem_list problems_of(const recipe_rights& seen) {
  recipe_judgement about{seen};
  judge_changes(about);
  judge_leaving(about);
  judge_reading(about);
  judge_addresses(about);
  judge_mixture(about);
  judge_administration(about);
  return std::move(about.found);
}

problem_list problems_of_parents(const access_survey& seen) {
  problem_list found;
  const auto is_recipe = [&seen](const std::string& path) {
    return std::any_of(seen.recipes.begin(), seen.recipes.end(),
                       [&path](const auto& each) { return each.path == path && each.which != recipe::none; });
  };
  for (const auto& each : with_named_nodes(seen)) {
    const auto rights = rights_of_everybody(each.rights);
    if ((rights & changing) && !is_recipe(each.path)) found.push_back(parent_problem(seen, each, rights));
  }
  return found;
}

problem_list problems_of_connection(const access_survey& seen, bool is_secure) {
  if (is_secure) return {};
  const auto needs = [](const recipe_rights& each) {
    const auto is_one = [](const node_access& node) { return needs_secure_connection(node.rights); };
    return (each.own && needs_secure_connection(*each.own)) ||
           std::any_of(each.nodes.begin(), each.nodes.end(), is_one);
  };
  const auto count = std::count_if(seen.recipes.begin(), seen.recipes.end(), needs);
  if (count == 0) return {};
  return {{"plain-connection", severity::warning, "connection",
           "ACLs by digest or ip guard " + std::to_string(count) + (count == 1 ? " recipe" : " recipes") +
               ", and this connection is in plain text: passwords can be read on the way, and addresses taken",
           "connect by TLS to a secureClientPort: --tls"}};
}

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
