#include "cluster/led_terms.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "cluster/collector.hpp"
#include "cluster/folder.hpp"
#include "cluster/stored_record.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;

void add(led_terms& to, const election_status& election, std::int64_t session) {
  const auto is_its_own = [session](const candidate_status& each) { return each.session_id == session; };
  if (election.leader && is_its_own(*election.leader)) {
    const auto& node = election.leader->node;
    to.found.push_back({election.path, node, election.path + "/" + node});
  } else if (std::ranges::any_of(election.waiters, is_its_own)) {
    to.waits_at.push_back(election.path);
  }
}

/// The record of a shard names its leader by the member's node, a '#' and a number.
asio::awaitable<void> add_shards(led_terms& to, zkrecipes::session session, std::string group, std::int64_t leader) {
  std::set<std::string> its_own;
  const auto members = co_await read_folder(session, group + "/member");
  to.complete = to.complete && members.is_complete;
  for (const auto& each : members.entries) {
    if (each.stat.ephemeral_owner == leader) its_own.insert(each.name);
  }
  if (its_own.empty()) co_return;
  const auto shards = co_await read_folder(session, group + "/shard");
  to.complete = to.complete && shards.is_complete;
  for (const auto& each : shards.entries) {
    const auto node = text_field(parse_stored(each.data), "leader_node");
    const auto member = node.substr(0, node.rfind('#'));
    if (its_own.contains(member))
      to.found.push_back({group + "/shard/" + each.name, node, group + "/member/" + member});
  }
}

}  // namespace

asio::awaitable<led_terms> find_led_terms(zkrecipes::session session, std::string root, std::int64_t leader,
                                          deadline limit) {
  collector all(session, std::move(root));
  co_await all.search(limit);
  const auto seen = co_await all.elections(limit);
  led_terms terms;
  terms.complete =
      seen.complete && std::ranges::all_of(seen.elections, [](const auto& each) { return is_known(each); });
  for (const auto& each : seen.elections) add(terms, each, leader);
  for (const auto& each : all.found(recipe::shard_group)) co_await add_shards(terms, session, each, leader);
  co_return terms;
}

}  // namespace zkadmin
