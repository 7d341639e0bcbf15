#include <exception>
#include <iostream>
#include <span>
#include <string>

#include "base/text.hpp"
#include "commands/commands.hpp"
#include "hold/command_process.hpp"
#include "hold/hold.hpp"
#include "report/check_report.hpp"
#include "security/check_security.hpp"

namespace {

using namespace zkadmin;

/// All commands but `check`, `lock` and `lead`.
exit_code execute(surroundings& around, const settings& wanted, const invocation& asked) {
  switch (asked.command) {
    case command::dashboard: return run_dashboard(around, wanted);
    case command::status: return show_status(around, wanted, asked.output);
    case command::history: return show_history(around, wanted, asked.path, asked.output);
    case command::sessions: return show_sessions(around, wanted, asked.session, asked.output);
    case command::audit: return show_audit(around, wanted, asked.output);
    case command::expire:
      return expire_session(around, wanted, asked.session, asked.because, asked.read_write, asked.yes);
    case command::groups: return show_groups(around, wanted, asked.path, asked.output);
    case command::topics: return show_topics(around, wanted, asked.path, asked.output);
    case command::streams:
      return show_streams(around, wanted, asked.path, place_of(asked.broker, wanted.timeout), asked.output);
    case command::recipes: return show_recipes(around, wanted, asked.path, asked.kind, asked.output);
    case command::exporter: return run_exporter(around, wanted);
    case command::ls: return list_nodes(around, wanted, asked.node);
    case command::get: return show_data(around, wanted, asked.node);
    case command::stat: return show_stat(around, wanted, asked.node);
    case command::tree: return show_tree(around, wanted, asked.node);
    case command::watch: return watch_node(around, wanted, asked.node);
    case command::set: return set_data(around, wanted, asked.node);
    case command::remove: return delete_nodes(around, wanted, asked.node);
    case command::letters: return show_letters(around, wanted, asked.queue, asked.output);
    case command::revive: return change_letters(around, wanted, asked.queue, letter_fate::revive);
    case command::revive_key: return revive_key(around, wanted, asked.queue);
    case command::discard: return change_letters(around, wanted, asked.queue, letter_fate::discard);
    default: return change_recipe(around, wanted, asked);
  }
}

/// No secret is ever on a command line.
std::string joined(std::span<const char* const> arguments) {
  std::string line = "zkadmin";
  for (const auto* each : arguments) line += ' ' + std::string(each);
  return line;
}

check_state check(surroundings& around, const settings& wanted, const invocation& asked) {
  const auto broker = place_of(asked.broker, wanted.timeout);
  if (!asked.security) return check_cluster(around, wanted, asked.only, broker, asked.output);
  if (broker) throw failure(exit_code::usage, "--broker: --security asks no broker");
  return check_security(around, wanted, asked.only, asked.output);
}

int run(std::span<const char* const> arguments) {
  const auto asked = parse_command_line(arguments, std::cout);
  if (!asked) return 0;
  if (asked->command == command::completion || asked->command == command::man) {
    std::cout << shell_text(*asked) << std::flush;
    return std::cout ? 0 : 1;
  }
  const settings wanted = load_settings(*asked, process_environment());
  // Never destroyed, because the destructor would wait for running name lookups, which can take arbitrarily long.
  static auto* const io = new boost::asio::io_context(1);
  surroundings around{*io, std::cout, std::cerr, joined(arguments)};
  if (asked->command == command::check) return static_cast<int>(check(around, wanted, *asked));
  if (asked->command == command::lock || asked->command == command::lead) {
    auto how = asked->hold;
    if (asked->command == command::lead) how.kind = hold_kind::leadership;
    return hold(around, wanted, asked->path, how);
  }
  return static_cast<int>(execute(around, wanted, *asked));
}

/// Monitoring reads the standard output of `check`, and takes its exit status 1 for a warning.
int report(std::span<const char* const> arguments, const std::string& message, exit_code code) {
  if (!is_for_check(arguments)) {
    std::cerr << "zkadmin: " << printable_lines(message) << '\n';
    return static_cast<int>(code);
  }
  std::cout << to_line(message) << std::flush;
  return static_cast<int>(check_state::unknown);
}

}  // namespace

int main(int argc, char** argv) {
  ignore_broken_pipes();  // If the reader of a pipe has gone, the write fails instead.
  const std::span<const char* const> arguments(argv + 1, static_cast<std::size_t>(argc > 0 ? argc - 1 : 0));
  try {
    return run(arguments);
  } catch (const failure& error) {
    return report(arguments, error.what(), error.code());
  } catch (const std::exception& error) {
    return report(arguments, std::string("unexpected: ") + error.what(), exit_code::error);
  }
}
