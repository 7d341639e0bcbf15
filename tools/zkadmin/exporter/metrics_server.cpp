#include "exporter/metrics_server.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <boost/asio/ip/address.hpp>

#include <zkrecipes/service/metrics_page.hpp>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "problems/verdict.hpp"

namespace zkadmin {

namespace {

using zkrecipes::service::metrics_page;

/// Families of gauges, each with its samples, for a page.
class metrics_text {
 public:
  /// Begins a family: the samples that follow belong to it. A family without samples is left out.
  void begin(std::string name, std::string_view help) { name_ = std::move(name), help_ = help; }
  void add(const metrics_page::labels& of, double value) { page_.gauge(name_, help_, value, of); }
  void add(double value) { add({}, value); }
  std::string text() const { return page_.text(); }

 private:
  metrics_page page_;
  std::string name_;
  std::string_view help_;
};

constexpr const char* all_phases[] = {"none",    "inaugurating", "executing", "handing_over", "retired",
                                      "stalled", "died",         "unknown",   foreign_phase,  refused_phase};
constexpr server_role all_roles[] = {server_role::leader, server_role::follower, server_role::observer,
                                     server_role::standalone, server_role::not_serving};

double seconds(std::chrono::milliseconds duration) { return static_cast<double>(duration.count()) / 1000; }
double number_of(std::size_t size) { return static_cast<double>(size); }

/// As in the name of a metric: "not_serving".
std::string label_of(server_role role) {
  std::string text = to_string(role);
  std::replace(text.begin(), text.end(), ' ', '_');
  return text;
}

/// One gauge of each server that tells it.
template <class Value>
void add_figure(metrics_text& into, const std::vector<server_status>& servers, const char* name, const char* help,
                Value value_of) {
  into.begin(name, help);
  for (const auto& each : servers)
    if (const auto value = value_of(each)) into.add({{"server", each.server}}, static_cast<double>(*value));
}

void add_servers(metrics_text& into, const std::vector<server_status>& servers) {
  into.begin("zkadmin_server_up", "Whether the server answered as a ZooKeeper server does.");
  for (const auto& each : servers) into.add({{"server", each.server}}, each.reachable ? 1 : 0);
  into.begin("zkadmin_server_role", "1 for the role that the server has told, 0 for the others.");
  for (const auto& each : servers)
    if (each.role)
      for (const auto role : all_roles)
        into.add({{"server", each.server}, {"role", label_of(role)}}, each.role == role ? 1 : 0);
  add_figure(into, servers, "zkadmin_server_connections", "Connections of clients, that of the last question included.",
             [](const auto& each) { return each.connections; });
  add_figure(into, servers, "zkadmin_server_outstanding_requests", "Requests that the server has not answered yet.",
             [](const auto& each) { return each.outstanding; });
  add_figure(into, servers, "zkadmin_server_nodes", "Nodes in the tree.", [](const auto& each) { return each.nodes; });
  // A sample is a double, which has not the digits of a whole zxid.
  add_figure(into, servers, "zkadmin_server_zxid_epoch", "Upper half of the zxid: the epoch of the leading server.",
             [](const auto& each) { return each.zxid ? std::optional(*each.zxid >> 32) : std::nullopt; });
  add_figure(into, servers, "zkadmin_server_zxid_in_epoch", "Lower half of the zxid: transactions of the epoch.",
             [](const auto& each) { return each.zxid ? std::optional(*each.zxid & 0xffffffff) : std::nullopt; });
}

void add_elections(metrics_text& into, const std::vector<election_status>& elections) {
  into.begin("zkadmin_election_epoch", "Number of the term.");
  for (const auto& each : elections)
    if (is_known(each)) into.add({{"path", each.path}}, static_cast<double>(each.epoch));
  into.begin("zkadmin_election_phase", "1 for the present phase of the term, 0 for the others.");
  for (const auto& each : elections)
    for (const auto* phase : all_phases) into.add({{"path", each.path}, {"phase", phase}}, each.phase == phase ? 1 : 0);
  into.begin("zkadmin_election_leader", "Whether the election has a leader.");
  for (const auto& each : elections)
    if (is_known(each)) into.add({{"path", each.path}}, each.leader ? 1 : 0);
  into.begin("zkadmin_election_waiters", "Candidates in line that do not lead.");
  for (const auto& each : elections)
    if (is_known(each)) into.add({{"path", each.path}}, number_of(each.waiters.size()));
}

void add_groups(metrics_text& into, const std::vector<group_status>& groups) {
  into.begin("zkadmin_group_shards", "Shards of a shard group, each in one of the states.");
  for (const auto& each : groups) {
    const auto add = [&](const char* state, std::size_t count) {
      into.add({{"path", each.path}, {"state", state}}, number_of(count));
    };
    add("owned", owned_count(each));
    add("moving", each.moves.size());
    add("waiting", each.waiting.size());
    add("quarantined", each.quarantined.size());
    add("unassigned", each.unassigned.size());
  }
  into.begin("zkadmin_group_members", "Members of a shard group that are there.");
  for (const auto& each : groups) into.add({{"path", each.path}}, number_of(each.members.size()));
  into.begin("zkadmin_group_frozen", "Whether the plan of a shard group is frozen.");
  for (const auto& each : groups) into.add({{"path", each.path}}, each.frozen ? 1 : 0);
}

template <class Value>
void add_topic_figure(metrics_text& into, const std::vector<topic_status>& topics, const char* name, const char* help,
                      Value value_of) {
  into.begin(name, help);
  for (const auto& topic : topics)
    for (const auto& each : topic.groups) into.add({{"path", topic.path}, {"group", each.name}}, value_of(each));
}

void add_topics(metrics_text& into, const std::vector<topic_status>& topics) {
  add_topic_figure(into, topics, "zkadmin_topic_messages_behind", "Messages that the group has still to consume.",
                   [](const auto& each) { return static_cast<double>(total_of(each.behind).messages); });
  add_topic_figure(into, topics, "zkadmin_topic_oldest_message_seconds",
                   "Age of the oldest message that the group has still to consume; 0 if there is none.",
                   [](const auto& each) { return seconds(total_of(each.behind).oldest); });
  add_topic_figure(into, topics, "zkadmin_topic_dead_letters", "Dead letters of the group.",
                   [](const auto& each) { return static_cast<double>(each.dead_letters); });
}

void add_commits(metrics_text& into, const std::vector<commit_status>& commits) {
  into.begin("zkadmin_transactions_undecided", "Transactions of a two-phase commit that are not decided.");
  for (const auto& each : commits) into.add({{"path", each.path}}, number_of(each.undecided.size()));
}

template <class Value>
void add_queue_figure(metrics_text& into, const std::vector<queue_status>& queues, const char* name, const char* help,
                      Value value_of) {
  into.begin(name, help);
  for (const auto& each : queues) into.add({{"path", each.path}}, value_of(each));
}

void add_queues(metrics_text& into, const std::vector<queue_status>& queues) {
  add_queue_figure(into, queues, "zkadmin_queue_items", "Items, claimed ones included.",
                   [](const auto& each) { return static_cast<double>(each.items); });
  add_queue_figure(into, queues, "zkadmin_queue_claimed_items", "Items that a taker works on.",
                   [](const auto& each) { return static_cast<double>(each.claimed); });
  add_queue_figure(into, queues, "zkadmin_queue_waiting_takers", "Takers that wait for an item.",
                   [](const auto& each) { return static_cast<double>(each.takers); });
  add_queue_figure(into, queues, "zkadmin_queue_dead_letters", "Items that are not handed out any more.",
                   [](const auto& each) { return static_cast<double>(each.dead_letters); });
  add_queue_figure(into, queues, "zkadmin_queue_parked_keys", "Keys whose messages become dead letters.",
                   [](const auto& each) { return static_cast<double>(each.parked_keys); });
  add_queue_figure(into, queues, "zkadmin_queue_oldest_item_seconds", "Age of the first item; 0 if there is none.",
                   [](const auto& each) { return seconds(age_of_first(each)); });
}

/// One gauge of each recipe that has it.
template <class Value>
void add_recipe_figure(metrics_text& into, const std::vector<recipe_status>& recipes, const char* name,
                       const char* help, Value value_of) {
  into.begin(name, help);
  for (const auto& each : recipes)
    if (const auto value = value_of(each))
      into.add({{"path", each.path}, {"kind", kind_text(each)}}, static_cast<double>(*value));
}

void add_recipes(metrics_text& into, const std::vector<recipe_status>& recipes) {
  add_recipe_figure(into, recipes, "zkadmin_recipe_waiting", "Members that wait in line; the items of a queue.",
                    [](const auto& each) { return each.waiting; });
  add_recipe_figure(into, recipes, "zkadmin_recipe_age_seconds",
                    "Age of the first holder's node; of a queue that of the first item.",
                    [](const auto& each) { return each.age ? std::optional(seconds(*each.age)) : std::nullopt; });
  add_recipe_figure(into, recipes, "zkadmin_recipe_size",
                    "Permits of a semaphore, members that a double barrier needs.",
                    [](const auto& each) { return each.size; });
  add_recipe_figure(into, recipes, "zkadmin_recipe_taken", "Those that are taken, or present.",
                    [](const auto& each) { return each.taken; });
}

void add_problems(metrics_text& into, const problem_list& problems) {
  into.begin("zkadmin_problem", "1 for each problem that there is now. docs/zkadmin.md says what to do.");
  for (const auto& each : problems)
    into.add({{"name", each.name}, {"where", each.where}, {"severity", to_string(each.how_bad)}}, 1);
  into.begin("zkadmin_problems", "Number of problems by severity.");
  for (const auto how_bad : {severity::warning, severity::critical}) {
    const auto count = std::count_if(problems.begin(), problems.end(),
                                     [how_bad](const auto& each) { return each.how_bad == how_bad; });
    into.add({{"severity", to_string(how_bad)}}, static_cast<double>(count));
  }
}

void add_completeness(metrics_text& into, bool is_complete) {
  into.begin("zkadmin_complete", "Whether everything could be read. 0: there may be more problems than these.");
  into.add(is_complete ? 1 : 0);
  into.begin("zkadmin_build_info", "1; the version is a label.");
  into.add({{"version", ZKADMIN_VERSION}}, 1);
}

}  // namespace

std::string to_metrics(const refreshed& last, const wanted_kinds& kinds, const problem_limits& limits) {
  const auto judged = judge(last.seen, kinds, limits);
  metrics_text text;
  add_completeness(text, judged.unknown.empty());
  if (last.ended != std::chrono::system_clock::time_point()) {
    text.begin("zkadmin_refresh_duration_seconds", "How long the last read of the cluster took.");
    text.add(seconds(last.took));
    text.begin("zkadmin_refresh_timestamp_seconds", "When the last read of the cluster ended, since 1970.");
    text.add(seconds(std::chrono::duration_cast<std::chrono::milliseconds>(last.ended.time_since_epoch())));
  }
  add_problems(text, judged.problems);
  add_servers(text, last.seen.servers);
  if (last.seen.elections) add_elections(text, last.seen.elections->found);
  if (last.seen.groups) add_groups(text, last.seen.groups->found);
  if (last.seen.topics) add_topics(text, last.seen.topics->found);
  if (last.seen.commits) add_commits(text, last.seen.commits->found);
  if (last.seen.queues) add_queues(text, last.seen.queues->found);
  if (last.seen.recipes) add_recipes(text, last.seen.recipes->found);
  return text.text();
}

std::string metrics_of_nothing() {
  metrics_text text;
  add_completeness(text, false);
  return text.text();
}

namespace {

namespace asio = boost::asio;
using namespace zkrecipes::service;

http_server listen(const asio::any_io_executor& executor, const endpoint& where, http_handler handler) {
  boost::system::error_code error;
  asio::ip::make_address(where.host, error);
  if (error) throw failure(exit_code::usage, "listen: expected an IP address and a port, found " + where.name);
  constexpr http_limits limits{.connections = metrics_server::most_connections, .idle = metrics_server::longest_wait};
  try {
    return {executor, where.host, where.port, std::move(handler), limits};
  } catch (const boost::system::system_error& refusal) {
    throw failure(exit_code::error,
                  "listening at " + printable(where.name) + ": " + printable(refusal.code().message()));
  }
}

http_response answer_to(const http_request& request, const std::shared_ptr<const std::string>& metrics) {
  if (request.method != "GET") {
    auto refusal = http_response::text(405, "only GET\n");
    refusal.fields.emplace_back("Allow", "GET");
    return refusal;
  }
  if (request.target == "/metrics") return {200, metrics, metrics_page::content_type};
  if (request.target == "/") return http_response::text(200, "zkadmin exporter: the metrics are at /metrics\n");
  return http_response::text(404, "not found: the metrics are at /metrics\n");
}

}  // namespace

metrics_server::metrics_server(const asio::any_io_executor& executor, const endpoint& where)
    : host_(where.host), server_(listen(executor, where, [this](const http_request& to) { return answer(to); })) {}

endpoint metrics_server::where() const {
  const bool is_v6 = host_.find(':') != std::string::npos;
  return {host_, server_.port(), (is_v6 ? "[" + host_ + "]" : host_) + ":" + std::to_string(server_.port())};
}

asio::awaitable<http_response> metrics_server::answer(const http_request& to) const {
  auto response = answer_to(to, text_);
  response.closes = true;
  co_return response;
}

}  // namespace zkadmin
