// testbroker: a real broker for tests, for as long as the command runs. It takes orders from standard input.
#include <charconv>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <poll.h>
#include <unistd.h>

#include <testcluster/rabbit_broker.hpp>
#include <testcluster/redis_broker.hpp>

#include "command/exit_status.hpp"
#include "command/printable.hpp"
#include "command/signals.hpp"

namespace testcluster::command {

/// A broker that takes orders.
class ordered_broker {
 public:
  virtual ~ordered_broker() = default;

  /// The line that answers: the state, or what was asked for. Throws testcluster::error if it can not be done or there
  /// is no such order, std::invalid_argument if the order names something that is not there.
  virtual std::string carry_out(const std::string& order) = 0;

  /// In one line: addresses, and which processes run.
  virtual std::string state() = 0;
};

/// A Redis server that takes orders.
class ordered_redis final : public ordered_broker {
 public:
  static constexpr const char* orders = "kill, start, restart, pause, resume, status";

  explicit ordered_redis(const redis_broker_options& options) : broker_(options) {}
  std::string carry_out(const std::string& order) override;
  std::string state() override;

 private:
  redis_broker broker_;
};

std::string ordered_redis::carry_out(const std::string& order) {
  if (order == "kill") {
    broker_.kill();
  } else if (order == "start") {
    broker_.start();
  } else if (order == "restart") {
    broker_.restart();
  } else if (order == "pause") {
    broker_.pause();
  } else if (order == "resume") {
    broker_.resume();
  } else if (order != "status") {
    throw error("there is no order \"" + order + "\": " + orders);
  }
  return state();
}

std::string ordered_redis::state() {
  const auto pid = broker_.pid();
  return broker_.address() + (pid == 0 ? " stopped" : " running " + std::to_string(pid));
}

/// A RabbitMQ cluster that takes orders.
class ordered_rabbit final : public ordered_broker {
 public:
  static constexpr const char* orders = "kill N, stop N, start [N], restart N, pause N, resume N, leader QUEUE, status";

  explicit ordered_rabbit(const rabbit_broker_options& options) : broker_(options) {}
  std::string carry_out(const std::string& order) override;
  std::string state() override;

 private:
  void start(const std::string& which);
  std::string leader_of(const std::string& queue);
  int node(const std::string& which) const;

  rabbit_broker broker_;
};

std::string ordered_rabbit::carry_out(const std::string& order) {
  const std::map<std::string, void (rabbit_broker::*)(int)> actions{{"kill", &rabbit_broker::kill},
                                                                    {"stop", &rabbit_broker::stop},
                                                                    {"restart", &rabbit_broker::restart},
                                                                    {"pause", &rabbit_broker::pause},
                                                                    {"resume", &rabbit_broker::resume}};
  const auto blank = order.find(' ');
  const auto verb = order.substr(0, blank);
  const auto rest = blank == order.npos ? std::string() : order.substr(blank + 1);
  const auto action = actions.find(verb);
  if (action != actions.end()) {
    (broker_.*action->second)(node(rest));
  } else if (verb == "leader") {
    return leader_of(rest);
  } else if (verb == "start") {
    start(rest);
  } else if (verb != "status") {
    throw error("there is no order \"" + order + "\": " + orders);
  }
  return state();
}

void ordered_rabbit::start(const std::string& which) {
  if (which.empty()) return broker_.start_all();
  broker_.start(node(which));
}

std::string ordered_rabbit::leader_of(const std::string& queue) {
  const auto leader = broker_.leader_of(queue);
  return queue + (leader == 0 ? " has no leader" : " leader " + std::to_string(leader));
}

/// The only one has not to be named.
int ordered_rabbit::node(const std::string& which) const {
  if (which.empty() && broker_.nodes() == 1) return 1;
  int number = 0;
  const auto* end = which.data() + which.size();
  const auto parsed = std::from_chars(which.data(), end, number);
  if (parsed.ec == std::errc{} && parsed.ptr == end) return number;
  throw error("\"" + which + "\" is not the number of a node, 1 to " + std::to_string(broker_.nodes()));
}

std::string ordered_rabbit::state() {
  std::string all;
  for (int each = 1; each <= broker_.nodes(); ++each) {
    const auto pid = broker_.pid(each);
    all += (all.empty() ? "" : ", ") + broker_.address(each);
    all += pid == 0 ? " stopped" : " running " + std::to_string(pid);
  }
  return all;
}

/// Reads orders from standard input, one a line, until its end or a signal. An order that fails is told, and the next
/// one is read.
void obey(ordered_broker& broker, signals& arriving);

namespace {

void carry_out_one(ordered_broker& broker, const std::string& order) {
  try {
    std::cout << broker.carry_out(order) << std::endl;
  } catch (const std::exception& problem) {
    std::cerr << "testbroker: " << printable_lines(problem.what()) << std::endl;
  }
}

}  // namespace

void obey(ordered_broker& broker, signals& arriving) {
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
      carry_out_one(broker, order);
    }
  }
}

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
