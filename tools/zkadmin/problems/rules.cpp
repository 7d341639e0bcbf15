#include "problems/rules.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace zkadmin {
namespace {

constexpr std::size_t longest_transaction_id = 80;  // Bytes.
constexpr std::size_t longest_key_text = 80;

}  // namespace

problem_list problems_of(const commit_status& commit, const problem_limits& limits) {
  const undecided_status* oldest = nullptr;
  std::size_t count = 0;
  for (const auto& each : commit.undecided) {
    if (each.age <= limits.transaction_limit) continue;
    ++count;
    if (!oldest || each.age > oldest->age) oldest = &each;
  }
  if (!oldest) return {};
  return {{"transactions-in-doubt", severity::critical, commit.path,
           "undecided transactions: " + std::to_string(count) + ", the oldest for " + short_duration(oldest->age) +
               " (" + shortened(oldest->id, longest_transaction_id) + ")"}};
}

problem_list problems_of(const queue_status& queue, const problem_limits& limits) {
  problem_list found;
  const auto add = [&](const char* name, std::string text) {
    found.push_back({name, severity::warning, queue.path, std::move(text)});
  };
  if (queue.items > 0 && queue.oldest > limits.message_limit) {
    const auto items = std::to_string(queue.items) +
                       (queue.items == 1 ? " item, the oldest for " : " items, the oldest for ") +
                       short_duration(queue.oldest);
    const bool has_takers = queue.claimed > 0 || queue.takers > 0;
    if (has_takers) {
      add("old-messages", items);
    } else {
      add("queue-without-consumers",
          items + ", with no claim and no waiting taker: no consumer runs, or its leader is slow");
    }
  }
  const auto waited = std::min(queue.taker_waits.value_or(std::chrono::milliseconds(0)), queue.oldest);
  if (waited >= limits.takeover_limit)
    found.push_back({"first-does-not-act", severity::critical, queue.path,
                     "the first of " + std::to_string(queue.takers) + " takers takes no item, for " +
                         short_duration(waited) + ": " + std::to_string(queue.items) + " wait"});
  if (queue.parked_keys > 0)
    add("parked-key", "messages of " + counted(queue.parked_keys, "key") + " become dead letters" +
                          (queue.parked_for ? ", for " + short_duration(*queue.parked_for) : "") +
                          (queue.parked_key.empty() ? "" : ": " + shortened(queue.parked_key, longest_key_text)));
  if (queue.dead_letters > 0) add("dead-letters", "dead letters: " + std::to_string(queue.dead_letters));
  return found;
}

namespace {

constexpr std::size_t longest_of_groups = 200;  // Bytes of a list of groups.

}  // namespace

problem_list problems_of(const topic_status& topic, const problem_limits& limits) {
  std::string letters, behind;
  for (const auto& each : topic.groups) {
    if (each.dead_letters > 0) append_to_list(letters, std::to_string(each.dead_letters) + " of " + each.name);
    const auto lag = total_of(each.behind);
    if (lag.messages > 0 && lag.oldest > limits.message_limit)
      append_to_list(behind, each.name + " (" + short_duration(lag.oldest) + ", " + std::to_string(lag.messages) +
                                 " messages behind)");
  }
  problem_list found;
  const auto add = [&](const char* name, const char* begin, const std::string& list) {
    if (!list.empty())
      found.push_back({name, severity::warning, topic.path, begin + shortened(list, longest_of_groups)});
  };
  add("dead-letters", "dead letters: ", letters);
  add("old-messages", "old messages wait for ", behind);
  return found;
}

namespace {

constexpr std::size_t longest_list = 80;  // Bytes of a list of shards.
constexpr std::size_t longest_member_ids = 200;
constexpr std::int64_t many_returns = 2;  // In a row; then it gets no shards until it has stayed for a while.

/// The moves that have waited for longer than the limit, in one text; empty if there are none.
std::string standing_moves(const group_status& group, const problem_limits& limits) {
  shard_numbers shards;
  std::chrono::milliseconds longest{0};
  for (const auto& each : group.moves) {
    if (!each.waits || *each.waits < limits.move_limit) continue;
    shards.push_back(each.shard);
    longest = std::max(longest, *each.waits);
  }
  if (shards.empty()) return {};
  std::sort(shards.begin(), shards.end());
  return "moves that stand still: " + std::to_string(shards.size()) + ", the longest for " + short_duration(longest) +
         " (shards " + shortened(ranges(shards), longest_list) + ")";
}

/// The shards that no member has been told to own for longer than the limit, although a member plans.
shard_numbers left_alone(const group_status& group, const problem_limits& limits) {
  shard_numbers shards;
  if (group.members.empty() || group.planner.empty()) return shards;
  if (group.unassigned_for >= limits.move_limit) shards = group.unassigned;
  for (const auto& each : group.away)
    if (each.age && *each.age >= each.grace + limits.move_limit)
      shards.insert(shards.end(), each.shards.begin(), each.shards.end());
  std::sort(shards.begin(), shards.end());
  return shards;
}

}  // namespace

problem_list problems_of(const group_status& group, const problem_limits& limits) {
  problem_list found;
  const auto add = [&](const char* name, severity how_bad, std::string text) {
    found.push_back({name, how_bad, group.path, std::move(text)});
  };
  if (group.has_open_terms)
    add("nobody-in-group", severity::critical, "no member is there, although terms of its shards go on by the records");
  else if (group.deserted_for >= limits.takeover_limit)
    add("nobody-in-group", severity::warning,
        "no member has been there for " + short_duration(*group.deserted_for) + ": its shards stand still");
  if (!group.quarantined.empty())
    add("quarantined-shards", severity::critical, "shards in quarantine: " + std::to_string(group.quarantined.size()));
  if (!group.held_off.empty())
    add("consumer-held-off", severity::critical,
        "messages are held off (shards " + shortened(ranges(group.held_off), longest_list) +
            "): " + group.held_off_reason);
  const bool is_unplanned = group.planner.empty() && !group.planner_unknown;
  if (!group.members.empty() && is_unplanned) add("nobody-plans", severity::warning, "nobody plans");
  if (const auto alone = left_alone(group, limits); !alone.empty())
    add("shards-unassigned", severity::warning,
        "given to no member: " + std::to_string(alone.size()) + " (shards " + shortened(ranges(alone), longest_list) +
            ")");
  std::string failing, looping;
  for (const auto& each : group.members) {
    if (!each.failing.empty()) append_to_list(failing, each.id + " (" + each.failing + ")");
    if (each.returns >= many_returns && each.owned.empty()) append_to_list(looping, each.id);
  }
  if (!failing.empty())
    add("failing-member", severity::warning,
        "members at which most shards fail, so that others own them: " + shortened(failing, longest_member_ids));
  if (!looping.empty())
    add("comes-again", severity::warning,
        "members that end soon after each start: " + shortened(looping, longest_member_ids));
  if (!group.still.empty())
    add("stands-still", severity::warning,
        "a message has been in process for longer than 45 s: shards " + shortened(ranges(group.still), longest_list) +
            (group.still_message.empty()
                 ? std::string()
                 : "; that of shard " + std::to_string(group.still.front()) + " is " + group.still_message));
  if (auto text = standing_moves(group, limits); !text.empty())
    add("moves-stand-still", severity::warning, std::move(text));
  return found;
}

namespace {

constexpr const char* unset_id = "zkrecipes";
constexpr std::size_t many_sessions = 3;         // Two are a restart, until the first of them has expired.
constexpr std::chrono::minutes longest_life{1};  // of one that crashes soon after its start, until its session is over
constexpr std::size_t longest_ids_in_line = 200;

}  // namespace

void line_places::add(const std::string& id, std::int64_t session, std::optional<std::chrono::milliseconds> age) {
  if (session == 0) return;
  if (!seen_.insert(session).second) twice_.insert(id);
  if (age && *age < longest_life && !id.empty() && id != unset_id) sessions_[id].insert(session);
}

void line_places::judge(const std::string& path, bool is_single, problem_list& into) const {
  std::string looping, twice;
  for (const auto& [id, sessions] : sessions_)
    if (sessions.size() >= many_sessions) append_to_list(looping, id + " (" + std::to_string(sessions.size()) + ")");
  for (const auto& each : twice_) append_to_list(twice, or_dash(each));
  if (!looping.empty())
    into.push_back(
        {"comes-again", severity::warning, path,
         "several sessions with one id have entered within a minute, the dead ones stay until they expire: " +
             shortened(looping, longest_ids_in_line)});
  if (is_single && !twice.empty())
    into.push_back({"same-session", severity::warning, path,
                    "a session has more than one place: " + shortened(twice, longest_ids_in_line)});
}

namespace {

/// Adds problems of one election.
struct election_findings {
  const election_status& election;
  problem_list found{};

  void add(const char* name, severity how_bad, std::string text) {
    found.push_back({name, how_bad, election.path, std::move(text)});
  }
};

void judge_record(election_findings& about) {
  const auto& election = about.election;
  if (is_abandoned(election))
    about.add("nobody-in-line", severity::critical, "its record has a leader, but nobody is in line");
  if (election.phase == "stalled")
    about.add("stalled", severity::critical, "a leader without progress: its term was ended");
  if (is_orphaned(election)) about.add("leader-died", severity::critical, "its leader has died, and nobody is in line");
  if (election.phase == foreign_phase)
    about.add("foreign-data", severity::warning, "its node holds data that zkrecipes did not write");
  if (election.phase == refused_phase)
    about.add("no-access", severity::warning, "it may not be read with these credentials");
}

void judge_hand_over(election_findings& about, const problem_limits& limits) {
  const auto& going = about.election.hand_over;
  if (!going || !is_late(*going, limits)) return;
  about.add("late-hand-over", severity::critical,
            "its hand-over from " + going->from + " is past its deadline by " +
                short_duration(going->elapsed - going->deadline));
}

// A leader that hands over has heeded the request.
void judge_resignation(election_findings& about, const problem_limits& limits) {
  const auto& election = about.election;
  const auto& asked = election.resignation_asked;
  if (!asked || !election.leader || election.hand_over || *asked < limits.resignation_limit) return;
  about.add("resignation-not-heeded", severity::warning,
            label(*election.leader) + " was asked to give up " + short_duration(*asked) + " ago, and has not begun to");
}

void judge_work(election_findings& about) {
  const auto& election = about.election;
  if (!election.held_off.empty())
    about.add("consumer-held-off", severity::critical, "it holds off its messages: " + election.held_off);
  if (election.is_still)
    about.add("stands-still", severity::warning,
              "a message has been in process for longer than 45 s" +
                  (election.still_message.empty() ? std::string() : ": " + election.still_message));
}

void judge_takeover(election_findings& about, const problem_limits& limits) {
  const auto& election = about.election;
  if (election.empty_for && *election.empty_for >= limits.takeover_limit)
    about.add("nobody-leads", severity::warning,
              "its last term has ended, and nobody has been in line for " + short_duration(*election.empty_for) +
                  ": no replica runs, or each ends");
  if (!election.leaderless_for || *election.leaderless_for < limits.takeover_limit || election.waiters.empty()) return;
  about.add("no-leader", severity::critical,
            label(election.waiters.front()) + " is first in line, and has not begun its term for " +
                short_duration(*election.leaderless_for));
}

// Our candidates, Curator's and kazoo's are ephemeral. A node of no session has been copied, restored or made by hand.
void judge_candidates(election_findings& about) {
  const auto& first = about.election.leader;
  const auto& waiters = about.election.waiters;
  std::vector<const candidate_status*> orphans;
  if (first && first->session_id == 0) orphans.push_back(&*first);
  for (const auto& each : waiters)
    if (each.session_id == 0) orphans.push_back(&each);
  if (orphans.empty()) return;
  std::string ids;
  for (const auto* each : orphans) append_to_list(ids, label(*each));
  // It takes the turn of all behind it, and never gives it up.
  const bool is_first = orphans.front() == (first ? &*first : &waiters.front());
  about.add("orphan-candidate", is_first ? severity::critical : severity::warning,
            "in line without a session: " + shortened(ids, 200) +
                (orphans.size() == 1 ? "; its node stays until somebody deletes it"
                                     : "; their nodes stay until somebody deletes them"));
}

}  // namespace

bool is_late(const hand_over_status& hand_over, const problem_limits& limits) noexcept {
  return hand_over.elapsed - hand_over.deadline > limits.hand_over_limit;
}

problem_list problems_of(const election_status& election, const problem_limits& limits) {
  election_findings about{election};
  judge_record(about);
  judge_hand_over(about, limits);
  judge_resignation(about, limits);
  judge_work(about);
  judge_takeover(about, limits);
  judge_candidates(about);
  line_places places;
  if (election.leader) places.add(election.leader->id, election.leader->session_id);
  for (const auto& each : election.waiters) places.add(each.id, each.session_id);
  places.judge(election.path, true, about.found);
  return std::move(about.found);
}

namespace {

constexpr std::size_t longest_of_list = 200;  // Bytes of a list of groups or shards.

/// Adds the problems of one source.
struct stream_findings {
  const stream_status& stream;
  problem_list found{};

  void add(const char* name, severity how_bad, const char* begin, const std::string& list) {
    if (!list.empty()) found.push_back({name, how_bad, stream.path, begin + shortened(list, longest_of_list)});
  }
};

void judge_shard(const stream_shard_status& shard, std::string& missing, std::string& limited) {
  const auto number = std::to_string(shard.shard);
  for (const auto& each : shard.missing)
    append_to_list(missing, "shard " + number + ": " + each.ranges + " (epoch " + each.epoch + ") of " + each.producer);
  if (shard.may_drop) append_to_list(limited, number);
}

void judge_records(stream_findings& about) {
  std::string letters, damaged, missing, limited;
  for (const auto& group : about.stream.groups) {
    if (group.dead_letters > 0) append_to_list(letters, std::to_string(group.dead_letters) + " of " + group.name);
    for (const auto& each : group.shards) {
      judge_shard(each, missing, limited);
      if (each.is_damaged) append_to_list(damaged, "shard " + std::to_string(each.shard) + " of " + group.name);
    }
  }
  about.add("dead-letters", severity::warning, "dead letters: ", letters);
  about.add("missing-messages", severity::critical, "messages that have not come although later ones have: ", missing);
  about.add("low-delivery-limit", severity::warning,
            "the broker drops messages that have come back 20 times, unless a policy says otherwise: in shard ",
            limited);
  about.add("damaged-position", severity::critical, "positions that consumers can not read, so they stop: ", damaged);
}

bool is_begun(const stream_status& stream, std::uint32_t shard) {
  const auto has_it = [shard](const stream_group_status& group) {
    return std::any_of(group.shards.begin(), group.shards.end(),
                       [shard](const auto& each) { return each.shard == shard; });
  };
  return std::any_of(stream.groups.begin(), stream.groups.end(), has_it);
}

void judge_age(stream_findings& about, const broker_status& broker, const problem_limits& limits) {
  std::string behind;
  for (const auto& group : about.stream.groups) {
    const auto lag = depth_of(broker, group.name);
    if (lag.messages > 0 && lag.oldest && *lag.oldest > limits.message_limit)
      append_to_list(behind,
                     group.name + " (" + short_duration(*lag.oldest) + ", " + waiting_text(lag) + " messages behind)");
  }
  about.add("old-messages", severity::warning, "old messages wait for ", behind);
}

void judge_broker(stream_findings& about, const broker_status& broker, const problem_limits& limits) {
  if (broker.is_away) about.add("broker-away", severity::critical, "its broker: ", broker.trouble);
  std::string missing, alone;
  for (const auto& each : broker.depths) {
    if (each.is_missing && is_begun(about.stream, each.shard)) append_to_list(missing, std::to_string(each.shard));
    if (each.messages > 0 && each.consumers == 0u)
      append_to_list(alone, std::to_string(each.shard) + " (" + std::to_string(each.messages) + " messages)");
  }
  about.add("missing-queue", severity::critical, "queues that were consumed have gone: of shard ", missing);
  about.add("queue-without-consumers", severity::warning, "messages wait, and nobody is connected: in shard ", alone);
  judge_age(about, broker, limits);
}

}  // namespace

problem_list problems_of(const stream_status& stream, const problem_limits& limits) {
  stream_findings about{stream};
  judge_records(about);
  if (stream.broker) judge_broker(about, *stream.broker, limits);
  return std::move(about.found);
}

namespace {

constexpr std::size_t longest_names = 200;  // Bytes of a list of names.

/// Adds problems of one recipe.
struct recipe_findings {
  const recipe_status& status;
  problem_list found{};

  void add(const char* name, severity how_bad, std::string text) {
    found.push_back({name, how_bad, status.path, std::move(text)});
  }
};

struct own_rules {
  const problem_limits& limits;
  problem_list operator()(std::monostate) const { return {}; }
  template <class Status>
  problem_list operator()(const Status& status) const {
    return problems_of(status, limits);
  }
};

void judge_access(recipe_findings& about) {
  if (about.status.access == recipe_access::foreign_data)
    about.add("foreign-data", severity::warning, "its node holds data that zkadmin does not understand");
  if (about.status.access == recipe_access::no_access)
    about.add("no-access", severity::warning, "it may not be read with these credentials");
}

// All members of lines, claims, members and dynamic instances are ephemeral. A node of no session has been copied,
// restored or made by hand.
void judge_orphans(recipe_findings& about) {
  std::string names;
  std::size_t count = 0;
  bool is_in_the_way = false;
  for (const auto& each : about.status.participants) {
    if (!each.is_orphan) continue;
    append_to_list(names, label(each));
    ++count;
    is_in_the_way |= each.position == 0;
  }
  if (count == 0) return;
  about.add("orphan-member", is_in_the_way ? severity::critical : severity::warning,
            "without a session: " + shortened(names, longest_names) +
                (count == 1 ? "; its node stays until somebody deletes it"
                            : "; their nodes stay until somebody deletes them"));
}

void judge_strangers(recipe_findings& about) {
  const auto& status = about.status;
  if (status.stranger_count == 0) return;
  std::string names;
  for (const auto& each : status.strangers) append_to_list(names, each);
  about.add("foreign-nodes", severity::warning,
            "children that do not belong to it: " + std::to_string(status.stranger_count) + " (" +
                shortened(names, longest_names) + ")");
}

/// Nothing: it has no such fact, or it is not known.
template <class Value>
std::optional<Value> fact_of(const recipe_status& status, const char* name) {
  const auto is_it = [name](const auto& fact) { return fact.name == name; };
  const auto found = std::find_if(status.facts.begin(), status.facts.end(), is_it);
  const auto* value = found == status.facts.end() ? nullptr : std::get_if<Value>(&found->value);
  return value ? std::optional(*value) : std::nullopt;
}

// Whether anybody is to be there is not known of those that are not declared.
void judge_presence(recipe_findings& about) {
  const auto& status = about.status;
  const bool is_service = status.kinds == std::vector{recipe::service};
  const bool may_be_judged = status.is_declared && status.access == recipe_access::readable && status.not_read == 0;
  if (!may_be_judged || (!is_service && status.kinds != std::vector{recipe::membership})) return;
  const auto count = static_cast<std::int64_t>(status.participants.size());
  if (count == 0) {
    about.add("no-instances", severity::warning, is_service ? "no instance is there" : "no member is there");
  } else if (fact_of<std::int64_t>(status, "draining") == count) {
    about.add("no-instances", severity::warning, "all instances are draining: " + std::to_string(count));
  }
}

// Right after a resize to fewer permits it is as it should be.
void judge_permits(recipe_findings& about, const problem_limits& limits) {
  const auto& status = about.status;
  const bool is_semaphore = status.kinds.size() == 1 && status.kinds.front() == recipe::semaphore;
  if (!is_semaphore || !status.size || !status.taken || *status.taken <= *status.size) return;
  const auto age = fact_of<std::chrono::milliseconds>(status, "resized");
  if (age && *age < limits.permit_limit) return;
  about.add("too-many-permits", severity::warning,
            std::to_string(*status.taken) + " permits are taken of " + std::to_string(*status.size) +
                (age ? ", " + short_duration(*age) + " after the last resize" : ""));
}

// A session may well have several places in a line: it has many acquisitions.
void judge_places(recipe_findings& about) {
  line_places places;
  for (const auto& each : about.status.participants)
    if (each.position && each.session) places.add(each.id, *each.session, each.age);
  places.judge(about.status.path, false, about.found);
}

// The member that comes last writes the round, or the first one if its process has gone before it could.
void judge_round(recipe_findings& about, const problem_limits& limits) {
  const auto& status = about.status;
  const bool is_barrier = status.kinds.size() == 1 && status.kinds.front() == recipe::double_barrier;
  if (!is_barrier || status.state != "gathering" || !status.size || !status.taken || *status.taken < *status.size)
    return;
  std::size_t waited = 0;
  for (const auto& each : status.participants)
    if (each.age && *each.age >= limits.takeover_limit) ++waited;
  if (waited < static_cast<std::size_t>(*status.size)) return;
  about.add("first-does-not-act", severity::critical,
            std::to_string(*status.taken) + " are present of " + std::to_string(*status.size) +
                ", and nobody has begun the round");
}

}  // namespace

problem_list problems_of(const recipe_status& status, const problem_limits& limits) {
  recipe_findings about{status, std::visit(own_rules{limits}, status.original)};
  if (std::holds_alternative<election_status>(status.original)) return std::move(about.found);
  judge_access(about);
  judge_orphans(about);
  judge_strangers(about);
  judge_permits(about, limits);
  judge_places(about);
  judge_round(about, limits);
  judge_presence(about);
  return std::move(about.found);
}

}  // namespace zkadmin
