#include "settings/command_options.hpp"

namespace zkadmin {

void add_topic_commands(CLI::App& app, invocation& asked) {
  auto& topics = add_command(app, asked, command::topics, "topics", "Print the topics, or one of them, once");
  add_format(topics, asked);
  topics.add_option("path", asked.path, "Path of a topic, to see its groups and shards");
}

}  // namespace zkadmin
