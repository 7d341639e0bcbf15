#include "problems/recipe_rules.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "problems/commit_rules.hpp"
#include "problems/election_rules.hpp"
#include "problems/group_rules.hpp"
#include "problems/line_places.hpp"
#include "problems/queue_rules.hpp"
#include "problems/topic_rules.hpp"
#include "text.hpp"

namespace zkadmin {
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
  about.add("missing-messages", severity::critical, "have not come, although later ones have: ", missing);
  about.add("low-delivery-limit", severity::warning,
            "the broker drops messages that have come back 20 times, unless a policy says otherwise: in shard ",
            limited);
  about.add("damaged-position", severity::critical, "not to be read by consumers, which stop there: ", damaged);
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

std::optional<std::chrono::milliseconds> resized_before(const recipe_status& status) {
  const auto is_it = [](const auto& fact) { return fact.name == "resized"; };
  const auto found = std::find_if(status.facts.begin(), status.facts.end(), is_it);
  if (found == status.facts.end()) return std::nullopt;
  const auto* age = std::get_if<std::chrono::milliseconds>(&found->value);
  return age ? std::optional(*age) : std::nullopt;
}

// Right after a resize to fewer permits it is as it should be.
void judge_permits(recipe_findings& about, const problem_limits& limits) {
  const auto& status = about.status;
  const bool is_semaphore = status.kinds.size() == 1 && status.kinds.front() == recipe::semaphore;
  if (!is_semaphore || !status.size || !status.taken || *status.taken <= *status.size) return;
  const auto age = resized_before(status);
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
  return std::move(about.found);
}

}  // namespace zkadmin
