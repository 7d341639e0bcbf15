#include "command_line.hpp"

#include <algorithm>
#include <charconv>
#include <iostream>

#include <CLI/CLI.hpp>

#include "one_of.hpp"
#include "options.hpp"

namespace testcluster::command {
namespace {

using std::chrono::milliseconds;

std::int64_t parse_session(const std::string& text) {
  const bool hex = text.rfind("0x", 0) == 0 || text.rfind("0X", 0) == 0;
  const char* begin = text.data() + (hex ? 2 : 0);
  const char* end = text.data() + text.size();
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(begin, end, number, hex ? 16 : 10);
  if (parsed.ec != std::errc{} || parsed.ptr != end || begin == end) {
    throw CLI::ValidationError("SESSION-ID", "'" + text + "' is not a session id such as 0x100abc or 72057654");
  }
  return static_cast<std::int64_t>(number);
}

/// Everything CLI11 writes into while it parses.
struct raw {
  arguments result;
  std::string output = "text";
  std::string session;
  std::int64_t tick = 500;
  std::int64_t delay = 0;
  std::vector<std::int64_t> session_limits;
  std::vector<std::string> words;
  bool proxies = false;
  CLI::Option* delay_given = nullptr;
  CLI::Option* words_given = nullptr;
};

CLI::App* add_command(CLI::App& app, raw& into, const std::string& name, const std::string& what) {
  auto* command = app.add_subcommand(name, what);
  command->add_option("--dir", into.result.dir, "The cluster's directory; default: the only cluster there is")
      ->type_name("DIR");
  command->add_option("-o,--output", into.output, "text or json")->check(one_of({"text", "json"}))->type_name("FORMAT");
  return command;
}

void add_up(CLI::App& app, raw& into) {
  auto& options = into.result.ensemble;
  auto* up = add_command(app, into, "up", "Start an ensemble and leave it running in the background");
  up->get_option("--dir")->description("A new or empty directory for it; default: a temporary one");
  up->add_option("-n,--servers", options.servers, "How many servers (3)")->check(CLI::Range(1, 9))->type_name("N");
  up->add_option("--tick", into.tick, "tickTime in ms (500)")->check(CLI::Range(10, 3'600'000))->type_name("MS");
  up->add_option("--sync-limit", options.sync_limit,
                 "syncLimit in ticks: how long a server that is cut off does not notice (10)")
      ->check(CLI::Range(1, 10'000))
      ->type_name("TICKS");
  up->add_option("--session-limits", into.session_limits, "Shortest and longest session timeout in ms (2 and 20 ticks)")
      ->expected(2)
      ->check(CLI::Range(1, 86'400'000))
      ->type_name("MIN MAX");
  up->add_flag("--force-sync", options.force_sync, "Wait for the disk in every transaction");
  into.delay_given = up->add_option("--delay", into.delay, "Proxies in front of the servers, with this delay each way")
                         ->check(CLI::Range(0, 60'000))
                         ->type_name("MS");
  up->add_flag("--proxies", into.proxies,
               "Proxies in front of the servers and between them: what fault and partition need");
  into.words_given = up->add_option("--four-letter-words", into.words, "The only ones the servers answer, besides srvr")
                         ->delimiter(',')
                         ->type_name("WORD,...");
  up->add_flag("--admin-server", options.admin_server, "Run ZooKeeper's AdminServer (HTTP) in each server");
  up->add_option("--config", options.extra_config, "A further line of zoo.cfg; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("KEY=VALUE");
  up->add_option("--base-port", options.base_port, "First of the four ports of each server (21810)")
      ->check(CLI::Range(1024, 65000))
      ->type_name("PORT");
}

void add_others(CLI::App& app, raw& into) {
  add_command(app, into, "down", "End the cluster and remove everything it made");
  add_command(app, into, "status", "Show the servers, their roles and addresses");
  const std::pair<const char*, const char*> on_server[] = {{"kill", "Kill a server (SIGKILL)"},
                                                           {"pause", "Freeze a server (SIGSTOP)"},
                                                           {"resume", "Let a paused server go on (SIGCONT)"},
                                                           {"restart", "Stop a server if it runs, and start it"}};
  for (const auto& [name, what] : on_server) {
    add_command(app, into, name, what)
        ->add_option("ID", into.result.id, "The server, 1 to N")
        ->required()
        ->check(CLI::Range(1, 9));
  }
  auto* partition = add_command(app, into, "partition", "Cut a server off from the others, until `heal`");
  partition->add_option("ID", into.result.id, "The server, 1 to N")->required()->check(CLI::Range(1, 9));
  partition->add_option("--from", into.result.fault.peer, "Only from this one; default: from all others")
      ->check(CLI::Range(1, 9))
      ->type_name("OTHER");
  add_command(app, into, "heal", "End all faults and partitions, and wait until the servers serve")
      ->add_option("ID", into.result.id, "Only those around this server, and without waiting")
      ->check(CLI::Range(1, 9));
  add_fault(app, into.result.id, into.result.fault,
            [&into](CLI::App& to, const std::string& name, const std::string& what) {
              return add_command(to, into, name, what);
            });
  add_command(app, into, "expire", "End a client's session as if it had timed out")
      ->add_option("SESSION-ID", into.session, "Decimal, or hexadecimal with 0x")
      ->required();
}

/// The option by which the user sets a field of ensemble_options.
std::string option_of(const std::string& field) {
  const std::pair<const char*, const char*> options[] = {{"tick_time", "--tick"},
                                                         {"min_session_timeout", "--session-limits"},
                                                         {"max_session_timeout", "--session-limits"},
                                                         {"extra_config", "--config"}};
  for (const auto& [name, option] : options)
    if (field == name) return option;
  std::string option = "--" + field;
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

/// Converts the parsed texts and numbers to the types that the commands use. Throws CLI::ParseError.
void convert(raw& from) {
  auto& result = from.result;
  if (!from.session.empty()) result.session = parse_session(from.session);
  result.json = from.output == "json";
  result.ensemble.tick_time = milliseconds(from.tick);
  result.ensemble.delay_proxies = from.proxies || from.delay_given->count() > 0;
  result.ensemble.peer_proxies = from.proxies;
  result.ensemble.delay = milliseconds(from.delay);
  if (from.words_given->count() > 0) result.ensemble.four_letter_words = from.words;
  if (from.session_limits.size() == 2) {
    result.ensemble.min_session_timeout = milliseconds(from.session_limits[0]);
    result.ensemble.max_session_timeout = milliseconds(from.session_limits[1]);
  }
  if (const auto problem = detail::problem_in(result.ensemble))
    throw CLI::ValidationError(option_of(problem->field), problem->what);
}

}  // namespace

arguments parse(int argc, char** argv) {
  CLI::App app{"A local ZooKeeper ensemble with faults on demand", "testcluster"};
  app.set_version_flag("--version", "testcluster " TESTCLUSTER_VERSION);
  app.require_subcommand(1);
  raw into;
  add_up(app, into);
  add_others(app, into);
  try {
    app.parse(argc, argv);
    convert(into);
  } catch (const CLI::ParseError& problem) {
    throw usage{app.exit(problem, std::cout, std::cerr) == 0 ? 0 : 2};
  }
  const auto* command = app.get_subcommands().front();
  into.result.command = command->get_name();
  if (into.result.command == "fault") into.result.fault.kind = command->get_subcommands().front()->get_name();
  return into.result;
}

}  // namespace testcluster::command
