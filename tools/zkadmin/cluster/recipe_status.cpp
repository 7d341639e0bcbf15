#include "cluster/recipe_status.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace zkadmin {
namespace {

struct text_of_value {
  std::string operator()(std::monostate) const { return "?"; }
  std::string operator()(bool value) const { return value ? "yes" : "no"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(std::chrono::milliseconds value) const { return short_duration(value); }
  std::string operator()(const std::string& value) const { return value.empty() ? "-" : value; }
};

}  // namespace

std::string to_text(const fact_value& value) { return std::visit(text_of_value(), value); }

const char* to_string(recipe_access access) noexcept {
  switch (access) {
    case recipe_access::readable: return "readable";
    case recipe_access::foreign_data: return "foreign_data";
    case recipe_access::no_access: return "no_access";
    case recipe_access::missing: return "missing";
  }
  return "readable";
}

std::string kind_text(const recipe_status& status) {
  std::string text;
  for (const auto each : status.kinds) text += (text.empty() ? "" : " or ") + std::string(to_string(each));
  return text;
}

const std::string& label(const participant_status& who) noexcept { return who.id.empty() ? who.node : who.id; }

namespace {

using std::chrono::milliseconds;

std::int64_t count_value(std::size_t count) noexcept { return static_cast<std::int64_t>(count); }

participant_status candidate_of(const candidate_status& who, const char* role) {
  participant_status one{role, who.id, who.node};
  one.position = who.position;
  one.session = who.session_id;
  one.token = who.token;
  one.is_orphan = who.session_id == 0;
  return one;
}

recipe_status status_at(std::string path, recipe which) {
  recipe_status status;
  status.path = std::move(path);
  status.kinds = {which};
  status.client = "zkrecipes";
  return status;
}

recipe_access access_of(const election_status& election) {
  if (election.phase == foreign_phase) return recipe_access::foreign_data;
  return election.phase == refused_phase ? recipe_access::no_access : recipe_access::readable;
}

std::vector<recipe_fact> election_facts(const election_status& election) {
  std::vector<recipe_fact> facts{{"epoch", election.epoch}};
  if (!election.takeover.empty()) facts.push_back({"takeover", election.takeover});
  if (election.hand_over) {
    const auto& going = *election.hand_over;
    facts.push_back({"hand_over", going.state + " to " + (going.to.empty() ? "nobody" : going.to)});
    facts.push_back({"hand_over_for", going.elapsed});
  }
  if (election.resignation_asked) facts.push_back({"resignation_asked", *election.resignation_asked});
  return facts;
}

std::string member_text(const group_member_status& member) {
  auto text = std::to_string(member.owned.size()) + (member.owned.size() == 1 ? " shard" : " shards");
  if (!member.expected.empty()) append_to_list(text, std::to_string(member.expected.size()) + " moving to it");
  if (member.is_draining) append_to_list(text, "draining");
  return text;
}

}  // namespace

recipe_status recipe_status_of(election_status election, std::chrono::system_clock::time_point now) {
  auto status = status_at(election.path, recipe::election);
  status.client.clear();  // Curator and kazoo keep no record
  status.access = access_of(election);
  status.state = election.phase;
  if (is_known(election)) {
    status.waiting = election.waiters.size();
    status.facts = election_facts(election);
    if (election.phase != "none") status.client = "zkrecipes";
  }
  const bool has_begin = election.since != std::chrono::system_clock::time_point();
  if (has_begin) status.age = age_since(election.since, now);
  if (election.leader) {
    status.holder = label(*election.leader);
    status.session = election.leader->session_id;
    status.participants.push_back(candidate_of(*election.leader, "leader"));
  }
  for (const auto& each : election.waiters) status.participants.push_back(candidate_of(each, "waiter"));
  status.original = std::move(election);
  return status;
}

recipe_status recipe_status_of(group_status group) {
  auto status = status_at(group.path, recipe::shard_group);
  status.state = group.frozen ? "frozen" : std::to_string(group.members.size()) + " members";
  status.holder = group.planner;
  status.facts = {{"shards", std::int64_t(group.shards)},
                  {"owned", count_value(owned_count(group))},
                  {"moving", count_value(group.moves.size())},
                  {"waiting", count_value(group.waiting.size())},
                  {"quarantined", count_value(group.quarantined.size())},
                  {"unassigned", count_value(group.unassigned.size())},
                  {"frozen", group.frozen}};
  for (const auto& each : group.members) {
    participant_status who{"member", each.id, each.node};
    who.detail = member_text(each);
    status.participants.push_back(std::move(who));
  }
  status.original = std::move(group);
  return status;
}

recipe_status recipe_status_of(topic_status topic) {
  auto status = status_at(topic.path, recipe::topic);
  const auto kept = total_of(topic.kept);
  status.state = std::to_string(kept.messages) + " messages kept";
  status.facts = {{"shards", std::int64_t(topic.shards)},
                  {"batches", count_value(kept.batches)},
                  {"messages", count_value(kept.messages)}};
  for (const auto& each : topic.groups) {
    const auto lag = total_of(each.behind);
    participant_status who{"group", each.name, ""};
    who.detail = std::to_string(lag.messages) + " messages behind";
    if (each.dead_letters > 0) append_to_list(who.detail, "dead letters: " + std::to_string(each.dead_letters));
    if (lag.messages > 0) who.age = lag.oldest;
    status.participants.push_back(std::move(who));
    status.waiting = std::max(status.waiting.value_or(0), lag.messages);
    if (lag.messages > 0) status.age = std::max(status.age.value_or(lag.oldest), lag.oldest);
  }
  status.original = std::move(topic);
  return status;
}

recipe_status recipe_status_of(stream_status stream) {
  auto status = status_at(stream.path, recipe::stream);
  status.state = "in use";
  if (stream.groups.empty()) status.state = "not consumed yet";
  status.facts = {{"source", stream.source},
                  {"name", stream.name},
                  {"shards", std::int64_t(stream.shards)},
                  {"producers", count_value(stream.producers)}};
  for (const auto& each : stream.groups) {
    participant_status who{"group", each.name, ""};
    who.detail = std::to_string(each.shards.size()) + (each.shards.size() == 1 ? " shard begun" : " shards begun");
    if (each.dead_letters > 0) append_to_list(who.detail, "dead letters: " + std::to_string(each.dead_letters));
    if (damaged_of(each) > 0) append_to_list(who.detail, "damaged: " + std::to_string(damaged_of(each)));
    status.participants.push_back(std::move(who));
  }
  status.original = std::move(stream);
  return status;
}

recipe_status recipe_status_of(commit_status commit) {
  auto status = status_at(commit.path, recipe::two_phase_commit);
  status.state = commit.undecided.empty() ? "all decided" : "undecided";
  status.waiting = commit.undecided.size();
  for (const auto& each : commit.undecided) {
    participant_status who{"transaction", each.id, each.id};
    who.age = each.age;
    status.participants.push_back(std::move(who));
    status.age = std::max(status.age.value_or(each.age), each.age);
  }
  status.original = std::move(commit);
  return status;
}

recipe_status recipe_status_of(queue_status queue) {
  auto status = status_at(queue.path, recipe::queue);
  status.client.clear();
  status.state = queue.items == 0 ? "empty" : queue.claimed > 0 ? "in work" : "waiting";
  if (queue.is_strange) status.state = "nothing of a queue is there";
  status.waiting = queue.items;
  if (queue.items > 0) status.age = age_of_first(queue);
  status.facts = {{"order", queue.order.empty() ? fact_value() : fact_value(queue.order)},
                  {"items", count_value(queue.items)},
                  {"claimed", count_value(queue.claimed)},
                  {"waiting_takers", count_value(queue.takers)},
                  {"dead_letters", count_value(queue.dead_letters)}};
  if (queue.parked_keys > 0) status.facts.push_back({"parked_keys", count_value(queue.parked_keys)});
  status.original = std::move(queue);
  return status;
}

}  // namespace zkadmin
