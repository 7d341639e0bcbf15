#include "rabbit_node.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>

#include <testcluster/error.hpp>

#include "connection.hpp"
#include "written_file.hpp"

namespace testcluster::detail {

// RabbitMQ wants epmd once a minute, whatever the node's own flags say: it runs `erl`, which would start epmd. These
// flags reach that `erl` as well. With port 1 it does not reach an epmd of somebody else either.
std::vector<std::string> erlang_environment(const std::filesystem::path& home) {
  return {"PATH=" + environment("PATH", "/usr/bin:/bin"),
          "HOME=" + home.string(),
          "LANG=C.UTF-8",
          "ERL_FLAGS=-start_epmd false",
          "ERL_EPMD_PORT=1",
          "ERL_CRASH_DUMP_SECONDS=0"};
}

namespace {

/// "127.4.8.15" as Erlang writes it, {127,4,8,15}.
std::string tuple_of(std::string host) {
  std::replace(host.begin(), host.end(), '.', ',');
  return "{" + host + "}";
}

}  // namespace

// From 4.0 on a node that joins starts another one, which asks the cluster, and which has nothing but this environment.
// It listens at the same port, as all nodes do whose port no epmd tells; so its address is another one. The arguments
// of the node itself come behind these, and hold.
std::vector<std::string> rabbit_environment(const std::filesystem::path& home, const std::filesystem::path& folder,
                                            const std::string& name, const std::string& helper, int distribution_port) {
  auto all = erlang_environment(home);
  all.push_back("ERL_AFLAGS=-erl_epmd_port " + std::to_string(distribution_port) + " -kernel inet_dist_use_interface " +
                tuple_of(helper));
  const auto add = [&](const std::string& key, const std::string& value) {
    all.push_back("RABBITMQ_" + key + "=" + value);
  };
  const auto add_file = [&](const std::string& key, const char* file) { add(key, (folder / file).string()); };
  add("NODENAME", name);
  add("USE_LONGNAME", "true");
  add("DIST_PORT", std::to_string(distribution_port));
  add("ALLOW_INPUT", "1");          // the script becomes the Erlang machine, and does not wait for it as a shell
  add("SCHEDULER_BIND_TYPE", "u");  // the default binds the only scheduler of each node to the same processor
  add("LOGS", "-");
  add_file("CONF_ENV_FILE", "env.conf");
  add_file("CONFIG_FILE", "rabbitmq.conf");
  add_file("ADVANCED_CONFIG_FILE", "advanced.config");
  add_file("ENABLED_PLUGINS_FILE", "enabled_plugins");
  add_file("PID_FILE", "pid");
  add_file("MNESIA_BASE", "data");
  add_file("MNESIA_DIR", "data/node");
  add_file("FEATURE_FLAGS_FILE", "data/feature_flags");
  add_file("LOG_BASE", "logs");
  return all;
}

using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

/// The bytes of a text as Erlang reads them, whatever characters they are.
std::string erlang_binary(const std::string& text) {
  std::string numbers;
  for (const unsigned char each : text) numbers += (numbers.empty() ? "" : ",") + std::to_string(each);
  return "<<" + numbers + ">>";
}

/// RabbitMQ 4 knows no delay at the start, and refuses its line in rabbitmq.conf; here it passes over it. A key of a
/// file replaces that of the other whole, so all of cluster_formation is here.
constexpr const char* formation_terms =
    "{cluster_formation, [{peer_discovery_backend, rabbit_peer_discovery_classic_config}, "
    "{randomized_startup_delay_range, {0, 0}}]}, ";

std::string advanced_terms(const rabbit_broker_options& options) {
  return "[{rabbit, [" + std::string(formation_terms) + "{default_user, " + erlang_binary(options.user) +
         "}, {default_pass, " + erlang_binary(options.password) + "}, {default_vhost, " +
         erlang_binary(options.virtual_host) + "}]}].\n";
}

}  // namespace

rabbit_node::rabbit_node(int number, fs::path folder, int base_port)
    : number_(number),
      folder_(std::move(folder)),
      base_port_(base_port),
      address_(host() + ":" + std::to_string(base_port)),
      secure_address_(host() + ":" + std::to_string(base_port + 1)),
      process_(
          {.program = "rabbitmq-server", .package = "rabbitmq-server", .subject = "node " + std::to_string(number)},
          folder_.path() / "log") {}

void rabbit_node::secure(const certificate_files& own, const fs::path& trusted) {
  std::ostringstream out;
  out << "listeners.ssl.1 = " << secure_address_ << "\nssl_options.cacertfile = " << trusted.string()
      << "\nssl_options.certfile = " << own.certificate.string() << "\nssl_options.keyfile = " << own.key.string()
      << "\nssl_options.verify = verify_peer\nssl_options.fail_if_no_peer_cert = true\n";
  secure_lines_ = out.str();
}

/// RabbitMQ takes the last of two lines with one key.
std::string rabbit_node::lines(const rabbit_broker_options& options, const std::string& first) const {
  std::ostringstream out;
  out << "listeners.tcp.1 = " << address_ << '\n' << secure_lines_;
  out << "log.console = true\nlog.console.level = info\nlog.file = false\n";
  out << "vm_memory_high_watermark.absolute = 1GiB\ndisk_free_limit.absolute = 1MB\n";
  out << "raft.wal_max_size_bytes = 33554432\n";  // a node keeps as much in memory; the default is 512 MiB
  // Only the first node may found a cluster, so that two nodes never found two.
  out << "cluster_formation.classic_config.nodes.1 = " << first << '\n';
  if (first != name()) out << "cluster_formation.classic_config.nodes.2 = " << name() << '\n';
  for (const auto& each : options.extra_config) out << each << '\n';
  return out.str();
}

void rabbit_node::configure(const rabbit_broker_options& options, const std::string& first) {
  write_file(folder_.path() / "rabbitmq.conf", lines(options, first), 0600);
  write_file(folder_.path() / "advanced.config", advanced_terms(options), 0600);
  write_file(folder_.path() / "enabled_plugins", "[].\n", 0600);
  write_file(folder_.path() / "env.conf", "", 0600);
}

/// A listener on every address takes the port on this one, too. RabbitMQ would tell this after some seconds only.
void rabbit_node::require_free(int port) const {
  boost::asio::io_context io;
  tcp::acceptor tried(io, tcp::v4());
  close_on_exec(tried.native_handle());
  tried.set_option(tcp::acceptor::reuse_address(true));
  boost::system::error_code failure;
  const auto place = host() + ":" + std::to_string(port);
  tried.bind(parse_endpoint(place), failure);
  if (failure) throw error("port: could not listen at " + place + ": " + failure.message());
}

void rabbit_node::launch(const fs::path& home, pid_t group) {
  const int distribution_port = base_port_ + distribution_offset;
  require_free(base_port_);
  if (!secure_lines_.empty()) require_free(base_port_ + 1);
  require_free(distribution_port);
  const auto script = environment("TESTCLUSTER_RABBITMQ", "/usr/lib/rabbitmq/bin") + "/rabbitmq-server";
  std::vector<std::string> command{script, "-noinput", "-name", name(), "+S", "1:1", "+SDcpu", "1:1", "+A", "1"};
  command.insert(command.end(), {"-kernel", "inet_dist_use_interface", tuple_of(host())});
  process_.launch({.command = std::move(command),
                   .group = group,
                   .working_directory = folder_.path(),
                   .environment = rabbit_environment(home, folder_.path(), name(), helper_.text(), distribution_port)});
}

/// Ra finds its servers by the file `names.dets`, which is written now and then.
bool rabbit_node::keeps(const std::string& queue) const {
  std::ifstream file(folder_.path() / "data" / "node" / "quorum" / name() / "names.dets", std::ios::binary);
  const std::string names(std::istreambuf_iterator<char>(file), {});
  return names.find('_' + queue) != names.npos;
}

/// After the header of the protocol a broker sends connection.start: method 10 of class 10, on channel 0.
bool rabbit_node::answers() const {
  constexpr std::string_view header("AMQP\0\0\x09\x01", 8);
  constexpr std::string_view method("\0\x0a\0\x0a", 4);
  try {
    connection to(parse_endpoint(address_), clock::now() + 1s);
    to.write(header);
    return to.read(11).substr(7) == method;
  } catch (const error&) {
    return false;
  }
}

}  // namespace testcluster::detail
