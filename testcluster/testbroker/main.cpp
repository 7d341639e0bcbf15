// testbroker redis: a real broker for tests, for as long as the command runs. It takes orders from standard input.
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>
#include <poll.h>
#include <unistd.h>

#include <testcluster/redis_broker.hpp>

#include "command/exit_status.hpp"
#include "command/signals.hpp"

namespace testcluster::command {
namespace {

struct broker_arguments {
  redis_broker_options options;
  std::string password_file;
};

std::string read_password(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line)) throw error("password-file: " + file + " can not be read, or has no line");
  return line;
}

void describe(CLI::App& app, broker_arguments& into) {
  app.description("Starts a real broker for tests, and ends it when this command ends, in whatever way.");
  app.require_subcommand(1);
  auto* redis = app.add_subcommand("redis",
                                   "A Redis server on a loopback address of its own. Its address is printed "
                                   "when it answers. Orders on standard input, one a line: kill (SIGKILL), "
                                   "start, restart, pause, resume, status. It ends with standard input, and "
                                   "by SIGINT, SIGTERM and SIGHUP.");
  const std::map<std::string, redis_durability> kinds{{"always", redis_durability::always},
                                                      {"none", redis_durability::none}};
  redis->add_option("--appendfsync", into.options.durability, "always: nothing is lost by a kill; none: everything")
      ->transform(CLI::CheckedTransformer(kinds));
  redis->add_option("--port", into.options.port, "its port")->capture_default_str();
  redis->add_option("--dir", into.options.dir, "directory of its data, new or empty (default: a temporary one)");
  redis->add_option("--password-file", into.password_file, "file whose first line is the password of the default user");
}

void show(redis_broker& broker) {
  const auto pid = broker.pid();
  std::cout << broker.address() << (pid == 0 ? " stopped" : " running " + std::to_string(pid)) << std::endl;
}

void carry_out(redis_broker& broker, const std::string& order) {
  if (order == "kill") broker.kill();
  if (order == "start") broker.start();
  if (order == "restart") broker.restart();
  if (order == "pause") broker.pause();
  if (order == "resume") broker.resume();
  const bool is_known = order == "kill" || order == "start" || order == "restart" || order == "pause" ||
                        order == "resume" || order == "status";
  if (!is_known) throw error("there is no order \"" + order + "\": kill, start, restart, pause, resume, status");
}

/// Ends at the end of the input, or with a signal. An order that fails is told, and the next one is read.
void obey(redis_broker& broker, signals& arriving) {
  std::string text;
  for (;;) {
    pollfd both[2] = {{STDIN_FILENO, POLLIN, 0}, {arriving.descriptor(), POLLIN, 0}};
    ::poll(both, 2, -1);
    while (const auto found = arriving.next()) {
      if (found->ssi_signo != SIGCHLD) return;  // that is the broker, which was killed
    }
    if (both[0].revents == 0) continue;
    char some[4096];
    const auto size = ::read(STDIN_FILENO, some, sizeof some);
    if (size <= 0) return;
    text.append(some, static_cast<std::size_t>(size));
    for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
      const auto order = text.substr(0, end);
      text.erase(0, end + 1);
      try {
        carry_out(broker, order);
        show(broker);
      } catch (const error& problem) {
        std::cerr << "testbroker: " << problem.what() << std::endl;
      }
    }
  }
}

int run(broker_arguments wanted) {
  if (!wanted.password_file.empty()) wanted.options.password = read_password(wanted.password_file);
  signals arriving;
  redis_broker broker(wanted.options);
  show(broker);
  obey(broker, arriving);
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
    std::cerr << "testbroker: " << problem.what() << "\n";
  }
  return exit_status::failure;
}
