// One program for all the processes of the demonstration.
#include <algorithm>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "process.hpp"
#include "roles.hpp"

namespace {

void add_work(CLI::App& app, demo::workload_options& work) {
  app.add_option("--messages", work.messages, "How many messages to send")->check(CLI::Range(100, 1'000'000));
  app.add_option("--seed", work.seed, "Chooses the bad messages, and the moments of the faults");
  app.add_option("--poison", work.poison, "How many messages can not be processed");
  app.add_option("--kill-on", work.killers, "How many messages kill the process that processes them");
  app.add_option("--keys", work.keys, "How many keys the messages have")->check(CLI::Range(1, 1'000'000));
}

void add_order(CLI::App& app, zkrecipes::message_order& order) {
  using zkrecipes::message_order;
  const std::map<std::string, message_order> names{
      {"strict", message_order::strict}, {"key", message_order::by_key}, {"none", message_order::none}};
  app.add_option("--order", order, "strict (the default), key (in order within a key) or none")
      ->transform(CLI::CheckedTransformer(names).description("strict|key|none"));
}

void add_faults(CLI::App& app, demo::direction& how) {
  app.add_option("--kills", how.kills, "How often to kill the leading consumer; with shards, an owner or the planner")
      ->check(CLI::Range(0, 10'000));
  app.add_option("--server-kills", how.server_kills, "How often to kill the leader of the ensemble")
      ->check(CLI::Range(0, 1'000));
  app.add_option("--changes", how.changes,
                 "How often to pause, restart, drain or cut off an owner of shards, in turn; balanced: to pause one")
      ->check(CLI::Range(0, 1'000));
  app.add_option("--broker-kills", how.broker_kills,
                 "How often to kill the broker, or a node of it, with --source redis or rabbitmq")
      ->check(CLI::Range(0, 1'000));
  app.add_option("--broker-nodes", how.broker_nodes, "How many nodes RabbitMQ has, with --source rabbitmq (default: 3)")
      ->check(CLI::Range(1, 7));
  app.add_option("--shards", how.work.shards, "How many shards there are")->check(CLI::Range(1, 1'000));
  app.add_option("--processes", how.consumers, "How many processes own shards, or have a lane each")
      ->check(CLI::Range(2, 20));
  app.add_option(
         "--incidents", how.incidents,
         "With shards and the library's default options: how often the database of the consumers is away for up "
         "to a minute, a process crashes in a loop, or a backup of the ensemble is restored, in turn")
      ->check(CLI::Range(0, 1'000));
  app.add_flag("--guardian", how.guardian,
               "Run a guardian, which ends the session of a consumer as soon as it is dead");
  app.add_option("--range", how.range, "By how many steps two processes may differ")->check(CLI::Range(1, 1'000'000));
}

enum class mode { leader, sharded, balanced, moving };

void add_mode(CLI::App& app, mode& chosen) {
  const std::map<std::string, mode> names{
      {"leader", mode::leader}, {"sharded", mode::sharded}, {"balanced", mode::balanced}, {"moving", mode::moving}};
  app.add_option(
         "--mode", chosen,
         "leader (the default): one of three consumers works; sharded: each has its shards; balanced: each has a "
         "lane, and all go at the same pace; moving: as leader, and all moves from a queue to a topic to a broker")
      ->transform(CLI::CheckedTransformer(names).description("leader|sharded|balanced|moving"));
}

void add_source(CLI::App& app, demo::source_kind& source) {
  app.add_option(
         "--source", source,
         "Where the shards are: topic (the default), in the ensemble, redis or rabbitmq; moving: redis (the default) "
         "or rabbitmq, where all moves to in the end")
      ->transform(CLI::CheckedTransformer(demo::source_names()).description("topic|redis|rabbitmq"));
}

/// The options that a mode does not have.
std::vector<std::string> options_of_others(mode chosen) {
  if (chosen == mode::sharded) return {"--kill-on", "--range"};
  if (chosen == mode::balanced)
    return {"--kill-on",  "--poison", "--keys",         "--order",        "--shards",
            "--guardian", "--source", "--broker-kills", "--broker-nodes", "--incidents"};
  if (chosen == mode::moving)
    return {"--shards", "--changes", "--processes", "--range", "--broker-kills", "--incidents"};
  return {"--shards", "--changes",      "--processes",    "--range",
          "--source", "--broker-kills", "--broker-nodes", "--incidents"};
}

/// `last`: where the messages are in the end.
void complete_nodes(const CLI::App& app, demo::source_kind last, int& nodes) {
  const bool is_rabbitmq = last == demo::source_kind::rabbitmq;
  if (!is_rabbitmq && app.count("--broker-nodes"))
    throw std::invalid_argument("--broker-nodes needs --source rabbitmq");
  if (is_rabbitmq && !app.count("--broker-nodes")) nodes = 3;
}

void complete_moving(const CLI::App& app, demo::direction& how) {
  const auto last = app.count("--source") ? how.sources.front() : demo::source_kind::redis;
  if (!demo::has_broker(last)) throw std::invalid_argument("--source: with --mode moving it is redis or rabbitmq");
  complete_nodes(app, last, how.broker_nodes);
  how.sources = {demo::source_kind::queue, demo::source_kind::topic, last};
  if (!app.count("--keys")) how.work.keys = 20;
  if (!app.count("--order")) how.order = zkrecipes::message_order::by_key;
  if (!app.count("--messages")) how.work.messages = 6'000;
  if (!app.count("--kills")) how.kills = 5;
}

void complete_balanced(const CLI::App& app, demo::direction& how) {
  if (!app.count("--range")) how.range = 100;
  if (!app.count("--processes")) how.consumers = 4;
  if (!app.count("--messages")) how.work.messages = 8'000;
  if (!app.count("--kills")) how.kills = 6;
  if (!app.count("--changes")) how.changes = 6;
  if (!app.count("--server-kills")) how.server_kills = 2;
}

void complete_source(const CLI::App& app, demo::direction& how) {
  auto& source = how.sources.front();
  if (!app.count("--source")) source = demo::source_kind::topic;
  if (source == demo::source_kind::queue) throw std::invalid_argument("--source: a queue has no shards");
  complete_nodes(app, source, how.broker_nodes);
  const bool is_killed = demo::has_broker(source);
  if (!is_killed && app.count("--broker-kills"))
    throw std::invalid_argument("--broker-kills needs --source redis or rabbitmq");
  const auto messages_to_a_kill = source == demo::source_kind::redis ? 2'000 : 5'000;  // RabbitMQ starts slowly
  const auto kills = static_cast<int>(how.work.messages / messages_to_a_kill);
  if (is_killed && !app.count("--broker-kills")) how.broker_kills = std::max(2, kills);
}

/// Refuses the options of other modes, and chooses those of this one that were not given.
void complete(const CLI::App& app, mode chosen, demo::direction& how) {
  for (const auto& each : options_of_others(chosen)) {
    if (app.count(each)) throw std::invalid_argument(each + " is of another mode: see --mode");
  }
  if (chosen == mode::balanced) return complete_balanced(app, how);
  if (chosen == mode::moving) return complete_moving(app, how);
  if (chosen != mode::sharded) return;
  // A queue costs the nodes of RabbitMQ a Raft group.
  if (!app.count("--shards")) how.work.shards = how.sources.front() == demo::source_kind::rabbitmq ? 16 : 64;
  if (!app.count("--keys")) how.work.keys = 300;
  if (!app.count("--order")) how.order = zkrecipes::message_order::by_key;
  if (!app.count("--processes")) how.consumers = 6;
  if (!app.count("--kills")) how.kills = 14;
  if (!app.count("--changes")) how.changes = 16;
  if (!app.count("--server-kills")) how.server_kills = 2;
  complete_source(app, how);
  if (how.incidents && demo::has_broker(how.sources.front()))
    throw std::invalid_argument("--incidents needs --source topic: a broker has no part in a backup of the ensemble");
}

/// What the processes are told by the director.
struct orders {
  demo::consumer_settings consumer;
  demo::walker_settings walker;
  std::string hosts;
  std::string socket;
  demo::producer_settings producer;
  int parent = 0;
  std::int64_t duration_ms = 30'000;
  std::int64_t timeout_ms = 4'000;
  std::int64_t deadline_ms = 1'000;
  std::int64_t grace_ms = 5'000;
};

CLI::App* add_consumer(CLI::App& app, orders& told) {
  auto* consume = app.add_subcommand("consume", "One consumer")->group("");
  consume->add_option("--hosts", told.hosts)->required();
  consume->add_option("--id", told.consumer.id)->required();
  consume->add_option("--phases", told.consumer.folder)->required();
  consume->add_option("--parent", told.parent)->required();
  consume->add_option("--timeout", told.timeout_ms)->required();
  consume->add_option("--deadline", told.deadline_ms)->required();
  consume->add_option("--grace", told.grace_ms)->required();
  consume->add_option("--shards", told.consumer.shards)->required();
  consume->add_option("--guardian", told.consumer.guardian);
  consume->add_option("--broker", told.consumer.broker);
  consume->add_flag("--defaults", told.consumer.defaults);
  add_source(*consume, told.consumer.source);
  add_order(*consume, told.consumer.order);
  return consume;
}

CLI::App* add_guard(CLI::App& app, orders& told) {
  auto* guard = app.add_subcommand("guard", "The guardian")->group("");
  guard->add_option("--socket", told.socket)->required();
  guard->add_option("--parent", told.parent)->required();
  return guard;
}

CLI::App* add_walker(CLI::App& app, orders& told) {
  auto* walk = app.add_subcommand("walk", "One process with a lane")->group("");
  walk->add_option("--hosts", told.hosts)->required();
  walk->add_option("--id", told.walker.id)->required();
  walk->add_option("--phases", told.walker.folder)->required();
  walk->add_option("--parent", told.parent)->required();
  walk->add_option("--timeout", told.timeout_ms)->required();
  walk->add_option("--messages", told.walker.messages)->required();
  walk->add_option("--range", told.walker.range)->required();
  walk->add_option("--seed", told.walker.seed)->required();
  walk->add_option("--longest", told.walker.longest_us)->required();
  return walk;
}

CLI::App* add_producer(CLI::App& app, orders& told, demo::workload_options& work) {
  auto* produce = app.add_subcommand("produce", "The producer")->group("");
  produce->add_option("--hosts", told.hosts)->required();
  produce->add_option("--duration", told.duration_ms)->required();
  produce->add_option("--parent", told.parent)->required();
  produce->add_option("--shards", work.shards)->required();
  produce->add_option("--broker", told.producer.broker);
  produce->add_option("--first", told.producer.first)->required();
  produce->add_option("--last", told.producer.last)->required();
  add_source(*produce, told.producer.source);
  add_work(*produce, work);
  return produce;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{"The main job of zkrecipes: consumers elect a leader on a real ensemble and hand over"};
  orders told;
  demo::direction how;
  auto chosen = mode::leader;
  add_mode(app, chosen);
  add_work(app, how.work);
  add_order(app, how.order);
  add_faults(app, how);
  add_source(app, how.sources.front());
  app.add_flag("--json", how.json, "Print the summary as one JSON object, as the last line");
  const auto* consume = add_consumer(app, told);
  const auto* produce = add_producer(app, told, how.work);
  const auto* walk = add_walker(app, told);
  const auto* guard = add_guard(app, told);
  CLI11_PARSE(app, argc, argv);
  using milliseconds = std::chrono::milliseconds;
  if (told.parent) demo::die_with_parent(told.parent);
  told.consumer.hosts = told.hosts;
  told.consumer.timeout = milliseconds(told.timeout_ms);
  told.consumer.deadline = milliseconds(told.deadline_ms);
  told.consumer.grace = milliseconds(told.grace_ms);
  told.producer.hosts = told.hosts;
  told.producer.duration = milliseconds(told.duration_ms);
  told.walker.hosts = told.hosts;
  told.walker.timeout = milliseconds(told.timeout_ms);
  if (*guard) return demo::guard(told.socket);
  if (*walk) return demo::walk(told.walker);
  if (*consume) return told.consumer.shards ? demo::own_shards(told.consumer) : demo::consume(told.consumer);
  if (*produce) return demo::produce(told.producer, demo::workload(how.work));
  complete(app, chosen, how);
  return demo::direct(how);
} catch (const std::exception& error) {
  std::cerr << "demo: " << error.what() << '\n';
  return 1;
}
