#include "settings/command_options.hpp"

namespace zkadmin {
namespace {

void add_source(CLI::App& to, invocation& asked) {
  auto& queue = asked.queue;
  to.add_option("path", queue.path, "Path of the queue, of a topic, or of streams")->required();
  to.add_option("--group", queue.group, "Of a topic, or of streams: the group of consumers whose letters they are")
      ->type_name("GROUP");
}

void add_fate(CLI::App& to, invocation& asked) {
  auto& queue = asked.queue;
  add_source(to, asked);
  auto* letter = to.add_option("letter", queue.letter, "Name of the letter, as `zkadmin queue letters` shows it");
  auto* all = to.add_flag("--all", queue.all, "The oldest 1 000 letters")->excludes(letter);
  letter->excludes(all);
  to.add_flag("--rw", queue.read_write, "Do it; without this the requests are only shown");
}

}  // namespace

void add_queue_commands(CLI::App& app, invocation& asked) {
  auto& queue = *app.add_subcommand("queue", "The dead letters of a queue");
  auto& letters = add_command(queue, asked, command::letters, "letters", "Print the dead letters");
  add_format(letters, asked);
  add_source(letters, asked);
  add_fate(add_command(queue, asked, command::requeue, "requeue", "Put dead letters back at the end of the queue"),
           asked);
  auto& drop = add_command(queue, asked, command::drop, "drop", "Delete dead letters");
  add_fate(drop, asked);
  drop.add_option("--yes", asked.queue.yes, "The path once more, in place of the question that --all asks")
      ->type_name("PATH");
  auto& unpark = add_command(queue, asked, command::unpark, "unpark", "Put the letters of a parked key back in order");
  unpark.add_option("path", asked.queue.path, "Path of the queue")->required();
  unpark.add_option("key", asked.queue.key, "The key, as `zkadmin queue letters` shows it, or the name of its mark")
      ->required();
  unpark.add_flag("--rw", asked.queue.read_write, "Do it; without this the first request is only shown");
  queue.require_subcommand(1);
}

}  // namespace zkadmin
