#include "security/meanings.hpp"

#include <algorithm>
#include <iterator>

#include <zkrecipes/node.hpp>

#include "text.hpp"

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

}  // namespace zkadmin
