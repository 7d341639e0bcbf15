#include "command_line.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <testcluster/ensemble.hpp>

#include "cluster_file.hpp"
#include "connection.hpp"
#include "descriptor.hpp"
#include "fault_options.hpp"
#include "options.hpp"
#include "place.hpp"
#include "printable.hpp"
#include "register.hpp"

namespace testcluster::command {
namespace {

/// The options of `up` and `exec` that describe the ensemble. The others stay as they were.
struct ensemble_flags {
  std::filesystem::path file;
  std::optional<int> servers, observers, heap_mib, sync_limit, base_port;
  std::optional<std::int64_t> tick, delay;
  std::vector<std::int64_t> session_limits;
  std::vector<std::string> words, config;
  bool force_sync = false, tls = false, admin_server = false, proxies = false, digest_superuser = false,
       auth_required = false;
};

using std::chrono::milliseconds;

void add_servers(CLI::App& to, ensemble_flags& into) {
  to.add_option("-n,--servers", into.servers, "How many servers that vote (3)")
      ->check(CLI::Range(1, 9))
      ->type_name("N");
  to.add_option("--observers", into.observers, "Further servers, which do not vote (0)")
      ->check(CLI::Range(0, 8))
      ->type_name("N");
  to.add_option("--heap", into.heap_mib, "Largest heap of each server in MiB (256)")
      ->check(CLI::Range(32, 65'536))
      ->type_name("MIB");
}

void add_times(CLI::App& to, ensemble_flags& into) {
  to.add_option("--tick", into.tick, "tickTime in ms (500)")->check(CLI::Range(10, 3'600'000))->type_name("MS");
  to.add_option("--sync-limit", into.sync_limit,
                "syncLimit in ticks: how long a server that is cut off does not notice (10)")
      ->check(CLI::Range(1, 10'000))
      ->type_name("TICKS");
  to.add_option("--session-limits", into.session_limits, "Shortest and longest session timeout in ms (2 and 20 ticks)")
      ->expected(2)
      ->check(CLI::Range(1, 86'400'000))
      ->type_name("MIN MAX");
}

void add_lines(CLI::App& to, ensemble_flags& into) {
  to.add_option("--delay", into.delay, "Proxies in front of the servers, with this delay each way")
      ->check(CLI::Range(0, 60'000))
      ->type_name("MS");
  to.add_flag("--proxies", into.proxies,
              "Proxies in front of the servers and between them: what fault and partition need");
}

void add_rest(CLI::App& to, ensemble_flags& into) {
  to.add_flag("--force-sync", into.force_sync, "Wait for the disk in every transaction");
  to.add_option("--four-letter-words", into.words, "The only ones the servers answer, besides srvr")
      ->delimiter(',')
      ->type_name("WORD,...");
  to.add_flag("--tls", into.tls, "A port for TLS in each server, with certificates made at the start");
  to.add_flag("--digest-superuser", into.digest_superuser,
              "A superuser, whose drawn password is in a file that is printed");
  to.add_flag("--auth-required", into.auth_required, "Serve only clients with digest credentials or a certificate");
  to.add_flag("--admin-server", into.admin_server, "Run ZooKeeper's AdminServer (HTTP) in each server");
  to.add_option("--config", into.config, "A further line of zoo.cfg; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("KEY=VALUE");
  to.add_option("--base-port", into.base_port, "First of the five ports of each server (21810)")
      ->check(CLI::Range(1024, 65000))
      ->type_name("PORT");
}

/// The option by which the user sets a field of ensemble_options.
std::string option_of(const std::string& field) {
  const std::pair<const char*, const char*> options[] = {{"tick_time", "--tick"},
                                                         {"heap_mib", "--heap"},
                                                         {"min_session_timeout", "--session-limits"},
                                                         {"max_session_timeout", "--session-limits"},
                                                         {"extra_config", "--config"}};
  for (const auto& [name, option] : options)
    if (field == name) return option;
  std::string option = "--" + field;
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

template <class Field, class Value>
void change(Field& field, const std::optional<Value>& given) {
  if (given) field = static_cast<Field>(*given);
}

void apply_times(const ensemble_flags& given, ensemble_options& to) {
  if (given.tick) to.tick_time = milliseconds(*given.tick);
  change(to.sync_limit, given.sync_limit);
  if (given.session_limits.size() == 2) {
    to.min_session_timeout = milliseconds(given.session_limits[0]);
    to.max_session_timeout = milliseconds(given.session_limits[1]);
  }
}

void add_ensemble_flags(CLI::App& to, ensemble_flags& into) {
  to.add_option("-f,--file", into.file, "A cluster file (TOML) with these settings; options on the command line win")
      ->type_name("FILE");
  add_servers(to, into);
  add_times(to, into);
  add_lines(to, into);
  add_rest(to, into);
}

/// Changes what was given. Throws CLI::ValidationError naming the option if the outcome can not be used.
void apply(const ensemble_flags& given, ensemble_options& to) {
  change(to.servers, given.servers);
  change(to.observers, given.observers);
  change(to.heap_mib, given.heap_mib);
  change(to.base_port, given.base_port);
  apply_times(given, to);
  to.force_sync |= given.force_sync;
  to.tls |= given.tls;
  to.digest_superuser |= given.digest_superuser;
  to.auth_required |= given.auth_required;
  to.admin_server |= given.admin_server;
  to.delay_proxies |= given.proxies || given.delay;
  to.peer_proxies |= given.proxies;
  if (given.delay) to.delay = milliseconds(*given.delay);
  if (!given.words.empty()) to.four_letter_words = given.words;
  to.extra_config.insert(to.extra_config.end(), given.config.begin(), given.config.end());
  if (const auto problem = detail::problem_in(to)) throw CLI::ValidationError(option_of(problem->field), problem->what);
}

namespace json = boost::json;

std::string text(const json::object& from, const char* key) {
  const auto* value = from.if_contains(key);
  if (value == nullptr) return "-";
  return printable(value->is_string() ? std::string(value->as_string()) : json::serialize(*value));
}

void print_faults(std::ostream& out, const json::object& node, const std::string& indent) {
  const auto* faults = node.if_contains("faults");
  if (faults == nullptr) return;
  for (const auto& each : faults->as_array()) out << indent << printable(each.as_string()) << "\n";
}

void print_cluster(std::ostream& out, const json::object& cluster) {
  out << "hosts  " << text(cluster, "hosts") << "\ndir    " << text(cluster, "dir") << "\n";
  if (cluster.contains("name")) out << "name   " << text(cluster, "name") << "\n";
  if (const auto* tls = cluster.if_contains("tls")) {
    for (const auto& [key, value] : tls->as_object())
      out << std::setw(0) << key << "  " << text(tls->as_object(), key.data()) << "\n";
  }
  if (cluster.contains("superuser")) out << "superuser  " << text(cluster, "superuser") << "\n";
  out << "\n" << std::left;
  out << std::setw(4) << "ID" << std::setw(12) << "ROLE" << std::setw(9) << "PID" << std::setw(23) << "ADDRESS"
      << "PROXY\n";
  for (const auto& entry : cluster.at("nodes").as_array()) {
    const auto& node = entry.as_object();
    out << std::setw(4) << text(node, "id") << std::setw(12) << text(node, "role") << std::setw(9) << text(node, "pid")
        << std::setw(23) << text(node, "address") << text(node, "proxy") << "\n";
    print_faults(out, node, "    ");
  }
}

void print_list(std::ostream& out, const json::array& clusters) {
  if (clusters.empty()) return;
  out << std::left << std::setw(20) << "NAME" << std::setw(8) << "STATE"
      << "DIR\n";
  for (const auto& each : clusters) {
    const auto& entry = each.as_object();
    out << std::setw(20) << text(entry, "name") << std::setw(8) << text(entry, "state") << text(entry, "dir") << "\n";
  }
}

}  // namespace

void print(std::ostream& out, const json::object& outcome, const arguments& wanted) {
  if (wanted.json) {
    out << printable_json(json::serialize(outcome)) << "\n";
  } else if (outcome.contains("clusters")) {
    print_list(out, outcome.at("clusters").as_array());
  } else if (outcome.contains("nodes")) {
    print_cluster(out, outcome);
  } else if (outcome.contains("session")) {
    out << "session " << text(outcome, "session") << " expired\n";
  } else if (outcome.contains("ended")) {
    for (const auto& each : outcome.at("ended").as_array()) out << text(each.as_object(), "dir") << " removed\n";
  } else {
    out << "server " << text(outcome, "id") << " is " << text(outcome, "role") << "\n";
    print_faults(out, outcome, "  ");
  }
}

namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using boost::system::error_code;
using local = asio::local::stream_protocol;

// Longer than the slowest request, a restart: it waits at most for start_timeout (30 s) until the server has stopped,
// and for the same time until it serves.
constexpr std::chrono::seconds time_limit{90};

error silent(const fs::path& dir) {
  return error("the supervisor of " + dir.string() +
               " does not answer; end it with SIGKILL if it hangs: its servers end "
               "with it");
}

void connect(local::socket& socket, const fs::path& dir) {
  switch (examine(dir)) {
    case condition::none: throw error("no cluster is up in " + dir.string());
    case condition::foreign: throw foreign_record(dir);
    case condition::stale:
      throw error("the supervisor of the cluster in " + dir.string() +
                  " is gone; remove what is left with: testcluster down "
                  "--dir " +
                  dir.string());
    case condition::live: break;
  }
  error_code failed;
  socket.connect(local::endpoint(socket_of(dir).string()), failed);
  if (failed) throw error("the cluster in " + dir.string() + " is not ready yet, or just ending");
  detail::close_on_exec(socket.native_handle());
}

void send(local::socket& socket, const json::object& request) {
  asio::write(socket, asio::buffer(json::serialize(request) + "\n"));
}

}  // namespace

json::object ask(const fs::path& dir, const json::object& request) {
  asio::io_context io;
  local::socket socket(io);
  connect(socket, dir);
  send(socket, request);
  std::string reply;
  asio::async_read(socket, asio::dynamic_buffer(reply), [](error_code, std::size_t) {});
  io.run_for(time_limit);
  if (!io.stopped()) {
    socket.close();
    io.run();
    throw silent(dir);
  }
  if (reply.empty()) throw error("the supervisor of " + dir.string() + " ended before it answered");
  const auto answer = json::parse(reply).as_object();
  if (const auto* problem = answer.if_contains("error")) throw error(std::string(problem->as_string()));
  return answer.at("ok").as_object();
}

void end_supervisor(const fs::path& dir) {
  asio::io_context io;
  local::socket socket(io);
  connect(socket, dir);
  ucred peer{};
  socklen_t size = sizeof peer;
  ::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &size);
  const detail::descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, peer.pid, 0)));
  send(socket, {{"command", "down"}});
  pollfd gone{process.get(), POLLIN, 0};
  const auto milliseconds = std::chrono::milliseconds(time_limit).count();
  if (!process || ::poll(&gone, 1, static_cast<int>(milliseconds)) != 1) throw silent(dir);
}

int server_of_role(const fs::path& dir, const std::string& role) {
  const auto status = ask(dir, {{"command", "status"}});
  for (const auto& each : status.at("nodes").as_array()) {
    const auto& its = each.at("role").as_string();
    if (its == role || (role == "leader" && its == "standalone")) return static_cast<int>(each.at("id").as_int64());
  }
  throw error("no server is " + role + " now");
}

initial_fault parse_initial_fault(const std::string& text) {
  initial_fault found;
  CLI::App app;
  app.require_subcommand(1);
  add_partition_options(*app.add_subcommand("partition", ""), found.server, found.fault);
  add_fault(app, found.server, found.fault, [](CLI::App& to, const std::string& name, const std::string& what) {
    return to.add_subcommand(name, what);
  });
  const bool is_partition = text.starts_with("partition");
  try {
    app.parse((is_partition ? "" : "fault ") + text);
  } catch (const CLI::ParseError& mistake) {
    throw CLI::ValidationError("--fault", "'" + text + "': " + mistake.what());
  }
  auto* command = app.get_subcommands().front();
  found.fault.kind = is_partition ? "partition" : command->get_subcommands().front()->get_name();
  return found;
}

namespace {

/// Everything CLI11 writes into while it parses.
struct raw {
  arguments result;
  ensemble_flags ensemble;
  std::string output = "text";
  std::string session;
  std::string server;  ///< An id or a role.
  std::vector<std::string> faults;
};

CLI::Option* add_dir(CLI::App* command, raw& into) {
  return command
      ->add_option("--dir", into.result.dir,
                   "The cluster's directory; default: $TESTCLUSTER_DIR, else the only cluster there is")
      ->type_name("DIR");
}

CLI::Option* add_name(CLI::App* command, raw& into, const std::string& what) {
  return command->add_option("--name", into.result.name, what)
      ->check(CLI::Validator([](const std::string& name) { return name_problem(name); }, "", "name"))
      ->type_name("NAME");
}

void add_output(CLI::App* command, raw& into) {
  command->add_option("-o,--output", into.output, "text or json")->check(one_of({"text", "json"}))->type_name("FORMAT");
}

/// A command for a cluster that is up.
CLI::App* add_silent_command(CLI::App& app, raw& into, const std::string& name, const std::string& what) {
  auto* command = app.add_subcommand(name, what);
  auto* dir = add_dir(command, into);
  add_name(command, into, "The name it was given by `up --name`")->excludes(dir);
  return command;
}

/// The same, with an outcome that is printed.
CLI::App* add_command(CLI::App& app, raw& into, const std::string& name, const std::string& what) {
  auto* command = add_silent_command(app, into, name, what);
  add_output(command, into);
  return command;
}

/// A command that starts a cluster.
CLI::App* add_start(CLI::App& app, raw& into, const std::string& name, const std::string& what) {
  auto* command = app.add_subcommand(name, what);
  add_dir(command, into)->description("A new or empty directory for it; default: a temporary one");
  add_name(command, into, "A name for it, by which other commands find it");
  add_ensemble_flags(*command, into.ensemble);
  return command;
}

void add_starts(CLI::App& app, raw& into) {
  add_output(add_start(app, into, "up", "Start an ensemble and leave it running in the background"), into);
  auto* exec = add_start(app, into, "exec",
                         "Start an ensemble, run a command with it, and end it with the command: testcluster exec "
                         "[OPTIONS] -- COMMAND [ARGUMENT...]");
  exec->add_option("--schedule", into.result.schedule, "A file with faults to inject while the command runs")
      ->type_name("FILE");
  exec->add_option(
          "--fault", into.faults,
          "A fault that is on when the command begins, such as 'delay 1 50' or 'partition 2': the arguments of "
          "`testcluster fault`; implies --proxies; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("FAULT");
  exec->add_option("--keep-logs", into.result.keep_logs,
                   "If the command fails, keep the logs of the servers in this directory: testcluster logs --dir DIR "
                   "prints them")
      ->type_name("DIR");
  exec->footer(
      "The command finds the cluster by TESTCLUSTER_HOSTS, TESTCLUSTER_DIR and ZKADMIN_HOSTS. Exit status: the "
      "command's,\n"
      "128+N if signal N ended it, 127 or 126 if it was not found or can not be run, 125 if the cluster did not start\n"
      "or the schedule failed.");
}

void add_server_commands(CLI::App& app, raw& into) {
  const std::pair<const char*, const char*> on_server[] = {{"kill", "Kill a server (SIGKILL)"},
                                                           {"stop", "Stop a server (SIGTERM)"},
                                                           {"pause", "Freeze a server (SIGSTOP)"},
                                                           {"resume", "Let a paused server go on (SIGCONT)"},
                                                           {"restart", "Stop a server if it runs, and start it"}};
  for (const auto& [name, what] : on_server) {
    add_command(app, into, name, what)
        ->add_option("ID", into.server, "The server, 1 to N, or its role: leader, follower, observer")
        ->required()
        ->check(CLI::Range(1, 9) | one_of({"leader", "follower", "observer"}));
  }
  auto* logs = add_silent_command(app, into, "logs", "Print what the servers have logged, in the order of time");
  logs->add_option("ID", into.result.id, "Only this server's")->check(CLI::Range(1, 9));
  logs->add_flag("-f,--follow", into.result.follow, "Go on with what they log, until the cluster ends");
}

void add_fault_commands(CLI::App& app, raw& into) {
  auto* partition = add_command(app, into, "partition", "Cut a server off from the others, until `heal`");
  add_partition_options(*partition, into.result.id, into.result.fault);
  add_command(app, into, "heal", "End all faults and partitions, and wait until the servers serve")
      ->add_option("ID", into.result.id, "Only those around this server, and without waiting")
      ->check(CLI::Range(1, 9));
  add_fault(app, into.result.id, into.result.fault,
            [&into](CLI::App& to, const std::string& name, const std::string& what) {
              return add_command(to, into, name, what);
            });
  add_silent_command(app, into, "schedule", "Inject the faults of a file, each at its time, and print them")
      ->add_option("FILE", into.result.schedule, "A TOML file; see README.md, \"Schedules of faults\"")
      ->required();
}

void add_expire(CLI::App& app, raw& into) {
  auto* expire = add_command(app, into, "expire", "End a client's session as if it had timed out");
  auto* session = expire->add_option("SESSION-ID", into.session, "Hexadecimal with 0x, or decimal");
  session->check(CLI::Validator(
      [](const std::string& text) {
        return parse_session(text) ? std::string{} : "'" + text + "' is not " + session_syntax;
      },
      "", "session"));
  expire->add_option("--path", into.result.path, "The session that owns this ephemeral node")
      ->type_name("PATH")
      ->excludes(session);
}

void add_others(CLI::App& app, raw& into) {
  add_command(app, into, "down", "End the cluster and remove everything it made");
  add_command(app, into, "status", "Show the servers, their roles and addresses");
  add_output(app.add_subcommand("list", "Show the clusters that are up, and what is left of dead ones"), into);
  add_server_commands(app, into);
  add_fault_commands(app, into);
  add_expire(app, into);
}

initial_fault checked_fault(const std::string& text, const ensemble_options& cluster) {
  const auto found = parse_initial_fault(text);
  const int total = cluster.servers + cluster.observers;
  if (const int id = std::max(found.server, found.fault.peer); id > total)
    throw CLI::ValidationError("--fault", "'" + text + "': there is no server " + std::to_string(id));
  if (total == 1 && (found.fault.peer != 0 || found.fault.kind == "partition"))
    throw CLI::ValidationError("--fault", "'" + text + "': there is only one server");
  return found;
}

/// Converts the parsed texts and numbers to the types that the commands use. Throws CLI::ParseError.
void convert(raw& from) {
  auto& result = from.result;
  result.json = from.output == "json";
  if (!from.session.empty()) result.session = *parse_session(from.session);
  if (!from.server.empty() && std::isalpha(static_cast<unsigned char>(from.server.front()))) {
    result.role = from.server;
  } else if (!from.server.empty()) {
    result.id = std::stoi(from.server, nullptr, 0);
  }
  if (result.command == "expire" && from.session.empty() && result.path.empty())
    throw CLI::RequiredError("SESSION-ID or --path");
  if (result.command == "exec" && result.program.empty())
    throw CLI::RequiredError("exec: a command after --, as in `testcluster exec -n 1 -- ctest`,");
  if (!from.ensemble.file.empty()) {
    const auto settings = read_cluster_file(from.ensemble.file);
    result.ensemble = settings.ensemble;
    if (result.name.empty()) result.name = settings.name;
  }
  from.ensemble.proxies |= !from.faults.empty();
  apply(from.ensemble, result.ensemble);
  for (const auto& each : from.faults) result.faults.push_back(checked_fault(each, result.ensemble));
}

/// The arguments of exec end at the first `--`; what follows belongs to the command that it runs.
std::vector<std::string> split_program(int& argc, char** argv) {
  if (argc < 2 || std::string(argv[1]) != "exec") return {};
  const auto end = argv + argc;
  const auto dashes = std::find(argv, end, std::string("--"));
  if (dashes == end) return {};
  argc = static_cast<int>(dashes - argv);
  return {dashes + 1, end};
}

}  // namespace

arguments parse(int argc, char** argv) {
  CLI::App app{"A local ZooKeeper ensemble with faults on demand", "testcluster"};
  app.set_version_flag("--version", "testcluster " TESTCLUSTER_VERSION);
  app.require_subcommand(1);
  raw into;
  into.result.program = split_program(argc, argv);
  add_starts(app, into);
  add_others(app, into);
  try {
    app.parse(argc, argv);
    const auto* command = app.get_subcommands().front();
    into.result.command = command->get_name();
    if (into.result.command == "fault") into.result.fault.kind = command->get_subcommands().front()->get_name();
    convert(into);
  } catch (const CLI::ParseError& problem) {
    std::ostringstream said;
    const bool is_help = app.exit(problem, said, said) == 0;
    (is_help ? std::cout : std::cerr) << printable_lines(said.str());
    throw usage{is_help ? 0 : 2};
  }
  return into.result;
}

}  // namespace testcluster::command
