// testbroker: a real broker for tests, for as long as the command runs. It takes orders from standard input.
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "command/exit_status.hpp"
#include "command/printable.hpp"
#include "command/signals.hpp"
#include "obey.hpp"
#include "ordered_rabbit.hpp"
#include "ordered_redis.hpp"

namespace testcluster::command {
namespace {

struct broker_arguments {
  redis_broker_options redis;
  rabbit_broker_options rabbit;
  std::string password_file;
  bool wants_redis = false;
};

std::string read_password(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line)) throw error("password-file: " + file + " can not be read, or has no line");
  return line;
}

void describe_redis(CLI::App& app, broker_arguments& into) {
  auto* redis = app.add_subcommand("redis",
                                   "A Redis server on a loopback address of its own. Its address is printed "
                                   "when it answers. Orders on standard input, one a line: kill (SIGKILL), "
                                   "start, restart, pause, resume, status. It ends with standard input, and "
                                   "by SIGINT, SIGTERM and SIGHUP.");
  const std::map<std::string, redis_durability> kinds{{"always", redis_durability::always},
                                                      {"none", redis_durability::none}};
  redis->add_option("--appendfsync", into.redis.durability, "always: nothing is lost by a kill; none: everything")
      ->transform(CLI::CheckedTransformer(kinds));
  redis->add_option("--port", into.redis.port, "its port")->capture_default_str();
  redis->add_option("--dir", into.redis.dir, "directory of its data, new or empty (default: a temporary one)");
  redis->add_option("--password-file", into.password_file, "file whose first line is the password of the default user");
  redis->callback([&into] { into.wants_redis = true; });
}

void describe_rabbit(CLI::App& app, broker_arguments& into) {
  auto* rabbit = app.add_subcommand("rabbitmq",
                                    "A RabbitMQ cluster, each node on a loopback address of its own. The addresses "
                                    "are printed when every node answers. Orders on standard input, one a line: "
                                    "kill N (SIGKILL), stop N (SIGTERM), start N, start (all that do not run), "
                                    "restart N, pause N, resume N, leader QUEUE, status. N is the number of a node, "
                                    "from 1; with one node it may be left out. It ends with standard input, and by "
                                    "SIGINT, SIGTERM and SIGHUP, but not before the cluster has started.");
  rabbit->add_option("-n,--nodes", into.rabbit.nodes, "number of nodes, 1 to 7")->capture_default_str();
  rabbit->add_option("--port", into.rabbit.port, "the port of each node")->capture_default_str();
  rabbit->add_option("--dir", into.rabbit.dir, "directory of its data, new or empty (default: a temporary one)");
  rabbit->add_option("--user", into.rabbit.user, "the only user")->capture_default_str();
  rabbit->add_option("--password-file", into.password_file,
                     "file whose first line is the user's password (default: it is guest)");
  rabbit->add_option("--virtual-host", into.rabbit.virtual_host, "the only virtual host")->capture_default_str();
  rabbit->add_option("--config", into.rabbit.extra_config,
                     "a further line for rabbitmq.conf, such as 'heartbeat = 5'; may be repeated");
}

void describe(CLI::App& app, broker_arguments& into) {
  app.description("Starts a real broker for tests, and ends it when this command ends, in whatever way.");
  app.require_subcommand(1);
  describe_redis(app, into);
  describe_rabbit(app, into);
}

std::unique_ptr<ordered_broker> start(broker_arguments& wanted) {
  if (!wanted.password_file.empty()) {
    auto& password = wanted.wants_redis ? wanted.redis.password : wanted.rabbit.password;
    password = read_password(wanted.password_file);
  }
  if (wanted.wants_redis) return std::make_unique<ordered_redis>(wanted.redis);
  return std::make_unique<ordered_rabbit>(wanted.rabbit);
}

int run(broker_arguments& wanted) {
  signals arriving;
  const auto broker = start(wanted);
  std::cout << broker->state() << std::endl;
  obey(*broker, arriving);
  return exit_status::success;
}

}  // namespace
}  // namespace testcluster::command

int main(int argc, char** argv) {
  using namespace testcluster::command;
  CLI::App app;
  app.name("testbroker");
  broker_arguments wanted;
  describe(app, wanted);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& shown) {
    return app.exit(shown) == 0 ? exit_status::success : exit_status::usage;
  }
  try {
    return run(wanted);
  } catch (const std::exception& problem) {
    std::cerr << "testbroker: " << printable_lines(problem.what()) << "\n";
  }
  return exit_status::failure;
}
