#include "ensemble_flags.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "options.hpp"

namespace testcluster::command {
namespace {

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

}  // namespace

void add_ensemble_flags(CLI::App& to, ensemble_flags& into) {
  to.add_option("-f,--file", into.file, "A cluster file (TOML) with these settings; options on the command line win")
      ->type_name("FILE");
  add_servers(to, into);
  add_times(to, into);
  add_lines(to, into);
  add_rest(to, into);
}

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

}  // namespace testcluster::command
