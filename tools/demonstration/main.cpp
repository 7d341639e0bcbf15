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
      ->transform(CLI::CheckedTransformer(names));
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{"The main job of zkrecipes: consumers elect a leader on a real ensemble and hand over"};
  std::string hosts;
  demo::consumer_settings consumer;
  int parent = 0;
  std::uint64_t milliseconds = 30'000;
  std::uint64_t timeout = 4'000;
  std::uint64_t deadline = 1'000;
  demo::direction how;
  add_work(app, how.work);
  add_order(app, how.order);
  app.add_option("--kills", how.kills, "How often to kill the leading consumer")->check(CLI::Range(0, 10'000));
  app.add_option("--server-kills", how.server_kills, "How often to kill the leader of the ensemble")
      ->check(CLI::Range(0, 1'000));
  app.add_flag("--json", how.json, "Print the summary as one JSON object, as the last line");
  auto* consume = app.add_subcommand("consume", "One consumer")->group("");
  consume->add_option("--hosts", hosts)->required();
  consume->add_option("--id", consumer.id)->required();
  consume->add_option("--phases", consumer.folder)->required();
  consume->add_option("--parent", parent)->required();
  consume->add_option("--timeout", timeout);
  consume->add_option("--deadline", deadline);
  add_order(*consume, consumer.order);
  auto* produce = app.add_subcommand("produce", "The producer")->group("");
  produce->add_option("--hosts", hosts)->required();
  produce->add_option("--duration", milliseconds)->required();
  produce->add_option("--parent", parent)->required();
  add_work(*produce, how.work);
  CLI11_PARSE(app, argc, argv);
  if (parent) demo::die_with_parent(parent);
  consumer.hosts = hosts;
  consumer.timeout = std::chrono::milliseconds(timeout);
  consumer.deadline = std::chrono::milliseconds(deadline);
  if (*consume) return demo::consume(consumer);
  if (*produce) return demo::produce(hosts, demo::workload(how.work), std::chrono::milliseconds(milliseconds));
  return demo::direct(how);
} catch (const std::exception& error) {
  std::cerr << "demo: " << error.what() << '\n';
  return 1;
}
