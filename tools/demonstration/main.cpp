// One program for all the processes of the demonstration.
#include <iostream>

#include <CLI/CLI.hpp>

#include "process.hpp"
#include "roles.hpp"

int main(int argc, char** argv) try {
  CLI::App app{"The main job of zkrecipes: consumers elect a leader on a real ensemble and hand over"};
  std::string hosts;
  std::string id;
  std::string folder;
  int parent = 0;
  std::uint64_t milliseconds = 30'000;
  demo::direction how;
  app.add_option("--messages", how.messages, "How many messages to send")->check(CLI::Range(100, 1'000'000));
  app.add_option("--seed", how.seed, "Chooses the moments of the faults");
  app.add_flag("--json", how.json, "Print the summary as one JSON object, as the last line");
  auto* consume = app.add_subcommand("consume", "One consumer")->group("");
  consume->add_option("--hosts", hosts)->required();
  consume->add_option("--id", id)->required();
  consume->add_option("--phases", folder)->required();
  consume->add_option("--parent", parent)->required();
  auto* produce = app.add_subcommand("produce", "The producer")->group("");
  produce->add_option("--hosts", hosts)->required();
  produce->add_option("--messages", how.messages)->required();
  produce->add_option("--duration", milliseconds)->required();
  produce->add_option("--parent", parent)->required();
  CLI11_PARSE(app, argc, argv);
  if (parent) demo::die_with_parent(parent);
  if (*consume) return demo::consume(hosts, id, folder);
  if (*produce) return demo::produce(hosts, how.messages, std::chrono::milliseconds(milliseconds));
  return demo::direct(how);
} catch (const std::exception& error) {
  std::cerr << "demo: " << error.what() << '\n';
  return 1;
}
