// Messages a second into a topic, beside Curator's `putMulti`, and out of it, beside a bare loop of the same
// transactions.
#include <charconv>
#include <cmath>
#include <filesystem>
#include <string>

#include <sched.h>
#include <unistd.h>

#include <boost/json.hpp>

#include "asynchronous.hpp"
#include "parts.hpp"
#include "peers.hpp"
#include "rounds.hpp"
#include "support/cluster.hpp"
#include "topic_rounds.hpp"

namespace bench {

/// As long as it lives, this process has the last processor for itself, and the servers have the others. Otherwise a
/// client that needs more time of a processor takes it from the servers, and its rate tells nothing of a machine that
/// has no server on it. Does nothing on a machine of one processor.
class separate_processors {
 public:
  separate_processors();
  ~separate_processors();
  separate_processors(const separate_processors&) = delete;
  separate_processors& operator=(const separate_processors&) = delete;
};

namespace {

/// The processors that this process may use at its start.
const cpu_set_t& all_processors() {
  static const cpu_set_t all = [] {
    cpu_set_t set;
    ::sched_getaffinity(0, sizeof set, &set);
    return set;
  }();
  return all;
}

int last_processor() {
  int last = -1;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &all_processors())) last = i;
  }
  return last;
}

/// All threads of a process; those that it starts later do as the thread that starts them.
void move(pid_t process, const cpu_set_t& to) {
  for (const auto& each : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
    const auto name = each.path().filename().string();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    ::sched_setaffinity(thread, sizeof to, &to);  // fails for a thread that has just ended
  }
}

void move_servers(const cpu_set_t& to) {
  for (const auto& each : zkrecipes::test::cluster().nodes()) {
    if (each.pid != 0) move(each.pid, to);
  }
}

}  // namespace

separate_processors::separate_processors() {
  auto others = all_processors();
  CPU_CLR(last_processor(), &others);
  if (CPU_COUNT(&others) == 0) return;
  cpu_set_t last;
  CPU_ZERO(&last);
  CPU_SET(last_processor(), &last);
  move_servers(others);
  move(::getpid(), last);
}

separate_processors::~separate_processors() {
  move_servers(all_processors());
  move(::getpid(), all_processors());
}

namespace {

constexpr int messages_put = 200'000;
constexpr const char* position_writes = "writes of the position for 1000 messages";

/// Curator packs as many items into a node as it is given at once; the program gives it 1 000 of the same size.
class curator_topic {
 public:
  curator_topic(const plan& what, const std::string& hosts) : program_(what.peers, "curator", "rates", hosts) {
    program_.line();  // ready
  }
  ~curator_topic() {
    program_.tell("");
    program_.line();  // it has removed its nodes
  }
  double round() {
    program_.tell("topic messages put");
    return std::stod(program_.line());
  }

 private:
  peer program_;
};

void add_producers(const plan& what, std::vector<row>& rows) {
  const auto& hosts = direct_hosts().front();
  std::unique_ptr<curator_topic> curator;
  if (!what.peers.empty()) curator = std::make_unique<curator_topic>(what, hosts);
  for (const std::uint32_t shards : {1u, 16u}) {
    const auto where = shards == 1 ? ", 1 shard" : ", " + std::to_string(shards) + " shards";
    const auto by_thousands = [&](const std::string&) {
      topic_backlog into(hosts, shards);
      return into.fill_by_thousands(messages_put);
    };
    std::vector<contestant> all{{&row::ours, by_thousands}};
    if (curator) all.push_back({&row::curator, [&](const std::string&) { return curator->round(); }});
    all.push_back({&row::bare, [&](const std::string&) { return put_bare(hosts, shards, messages_put); }});
    rows.push_back(measure_in_turns("put in calls of 1000" + where, per_second, all, what.rounds));
    const auto one_by_one = [&](const std::string&) {
      topic_backlog into(hosts, shards);
      return into.fill(messages_put);
    };
    rows.push_back(measure_in_turns("put one by one" + where, per_second, {{&row::ours, one_by_one}}, what.rounds));
  }
}

struct consumption {
  const char* name;
  int round_trip_ms;
  int messages;
  topic_consumption how;
  bool is_like_ours = false;  ///< The bare loop has as many messages in a transaction as our last round had.
  bool is_apart = false;      ///< The client has a processor of its own.
};

constexpr consumption consumptions[] = {
    {"no delay, one set a commit, window 256", 0, 40'000, {256, false}},
    {"no delay, one set a commit, window 1000", 0, 40'000, {1'000, false}},
    {"no delay, a create a message, window 256", 0, 20'000, {256, true}},
    {"no delay, a create a message, same transactions", 0, 20'000, {256, true}, true},
    {"no delay, a create a message, same, own processor", 0, 20'000, {256, true}, true, true},
    {"20 ms, one set a commit, window 256", 20, 20'000, {256, false}},
    {"20 ms, one set a commit, window 1000", 20, 20'000, {1'000, false}}};

void add_consumer(const plan& what, const consumption& line, std::vector<row>& rates, std::vector<row>& costs) {
  const auto hosts = line.round_trip_ms ? proxy_hosts().front() : direct_hosts().front();
  cluster().proxy(1).set_delay(std::chrono::microseconds(500 * line.round_trip_ms));
  std::optional<separate_processors> apart;
  if (line.is_apart) apart.emplace();
  std::vector<double> commits[2];
  const auto measure = [&](auto consume, std::vector<double>& into, bool is_like_ours) {
    return [&, consume, is_like_ours](const std::string&) -> std::optional<double> {
      topic_backlog backlog(direct_hosts().front(), 1);
      backlog.fill(line.messages);
      auto how = line.how;
      if (is_like_ours) how.window = static_cast<std::size_t>(std::lround(1000 / commits[0].back()));
      const auto seen = consume(hosts, backlog, how);
      into.push_back(1000 * seen.commits / line.messages);
      return seen.rate;
    };
  };
  const std::vector<contestant> all{{&row::ours, measure(&consume_topic, commits[0], false)},
                                    {&row::bare, measure(&consume_topic_bare, commits[1], line.is_like_ours)}};
  rates.push_back(measure_in_turns(line.name, per_second, all, what.rounds));
  row cost{line.name, position_writes, summary(std::move(commits[0]))};
  cost.bare = summary(std::move(commits[1]));
  costs.push_back(std::move(cost));
}

constexpr std::uint32_t team_shards = 16;
constexpr int team_messages = 400'000;

/// One process and four, in turns.
void add_team(const plan& what, std::vector<row>& rates, std::vector<row>& costs) {
  std::vector<double> commits[2];
  const auto measure = [&](std::uint32_t processes, std::vector<double>& into) {
    return [&, processes](const std::string&) -> std::optional<double> {
      topic_backlog backlog(direct_hosts().front(), team_shards);
      backlog.fill(team_messages);
      const auto seen = consume_as_team(what, backlog, processes);
      into.push_back(1000 * seen.commits / team_messages);
      return seen.rate;
    };
  };
  const std::vector<contestant> all{{&row::ours, measure(1, commits[0])}, {&row::bare, measure(4, commits[1])}};
  auto both = measure_in_turns("", per_second, all, what.rounds);
  const std::string names[] = {"no delay, 16 shards, 1 process", "no delay, 16 shards, 4 processes"};
  rates.push_back({names[0], per_second, both.ours});
  rates.push_back({names[1], per_second, both.bare});
  for (const auto i : {0, 1}) costs.push_back({names[i], position_writes, summary(std::move(commits[i]))});
}

}  // namespace

std::vector<row> topics(const plan& what) {
  std::vector<row> rates;
  std::vector<row> costs;
  add_producers(what, rates);
  for (const auto& each : consumptions) add_consumer(what, each, rates, costs);
  heal_proxies();
  add_team(what, rates, costs);
  rates.insert(rates.end(), costs.begin(), costs.end());
  return rates;
}

}  // namespace bench
