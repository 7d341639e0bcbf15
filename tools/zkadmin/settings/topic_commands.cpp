#include "settings/command_options.hpp"

namespace zkadmin {

void add_topic_commands(CLI::App& app, invocation& asked) {
  auto& topics = add_command(app, asked, command::topics, "topics", "Print the topics, or one of them, once");
  add_format(topics, asked);
  topics.add_option("path", asked.path, "Path of a topic, to see its groups and shards");
  auto& streams = add_command(app, asked, command::streams, "streams",
                              "Print the sources of messages outside of ZooKeeper, or one of them, once");
  add_format(streams, asked);
  streams.add_option("path", asked.path, "Path of Redis streams, RabbitMQ queues or another source, to see its shards");
  add_broker(streams, asked);
}

void add_recipe_commands(CLI::App& app, invocation& asked) {
  auto& recipes =
      add_command(app, asked, command::recipes, "recipes", "Print the recipes of all kinds, or one of them, once");
  add_format(recipes, asked);
  recipes.add_option("path", asked.path, "Path of a recipe, to see all that is known of it");
  recipes.add_option("--kind", asked.kind, "Only this kind; with a path: it is of this kind")->type_name("KIND");
}

}  // namespace zkadmin
