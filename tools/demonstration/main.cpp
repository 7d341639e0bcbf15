// One program for all the processes of the demonstration.
#include <iostream>
#include <map>
#include <string>

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
  app.add_option("--kills", how.kills, "How often to kill the leading consumer")->check(CLI::Range(0, 10'000));
  app.add_option("--server-kills", how.server_kills, "How often to kill the leader of the ensemble")
      ->check(CLI::Range(0, 1'000));
}

/// What the processes are told by the director.
struct orders {
  demo::consumer_settings consumer;
  std::string hosts;
  int parent = 0;
  std::int64_t duration_ms = 30'000;
  std::int64_t timeout_ms = 4'000;
  std::int64_t deadline_ms = 1'000;
};

CLI::App* add_consumer(CLI::App& app, orders& told) {
  auto* consume = app.add_subcommand("consume", "One consumer")->group("");
  consume->add_option("--hosts", told.hosts)->required();
  consume->add_option("--id", told.consumer.id)->required();
  consume->add_option("--phases", told.consumer.folder)->required();
  consume->add_option("--parent", told.parent)->required();
  consume->add_option("--timeout", told.timeout_ms)->required();
  consume->add_option("--deadline", told.deadline_ms)->required();
  add_order(*consume, told.consumer.order);
  return consume;
}

CLI::App* add_producer(CLI::App& app, orders& told, demo::workload_options& work) {
  auto* produce = app.add_subcommand("produce", "The producer")->group("");
  produce->add_option("--hosts", told.hosts)->required();
  produce->add_option("--duration", told.duration_ms)->required();
  produce->add_option("--parent", told.parent)->required();
  add_work(*produce, work);
  return produce;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{"The main job of zkrecipes: consumers elect a leader on a real ensemble and hand over"};
  orders told;
  demo::direction how;
  add_work(app, how.work);
  add_order(app, how.order);
  add_faults(app, how);
  app.add_flag("--json", how.json, "Print the summary as one JSON object, as the last line");
  const auto* consume = add_consumer(app, told);
  const auto* produce = add_producer(app, told, how.work);
  CLI11_PARSE(app, argc, argv);
  using milliseconds = std::chrono::milliseconds;
  if (told.parent) demo::die_with_parent(told.parent);
  told.consumer.hosts = told.hosts;
  told.consumer.timeout = milliseconds(told.timeout_ms);
  told.consumer.deadline = milliseconds(told.deadline_ms);
  if (*consume) return demo::consume(told.consumer);
  if (*produce) return demo::produce(told.hosts, demo::workload(how.work), milliseconds(told.duration_ms));
  return demo::direct(how);
} catch (const std::exception& error) {
  std::cerr << "demo: " << error.what() << '\n';
  return 1;
}
