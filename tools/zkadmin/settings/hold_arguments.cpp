#include "settings/hold_arguments.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "settings/values.hpp"

namespace zkadmin {
namespace {

constexpr std::int32_t most_permits = 1'000'000;

template <class Target>
CLI::Option* add_converted_duration(CLI::App& app, const char* name, Target& target,
                                    std::chrono::milliseconds (*parse)(std::string_view), const char* help) {
  const auto keep = [&target, name, parse](const std::string& text) {
    try {
      target = parse(text);
    } catch (const std::invalid_argument& error) {
      throw CLI::ValidationError(name, error.what());
    }
  };
  return app.add_option_function<std::string>(name, keep, help)->type_name("DURATION");
}

void add_waiting(CLI::App& app, hold_options& how) {
  auto* at_once = app.add_flag_callback(
      "--try", [&how] { how.waits = false; }, "Do not wait: exit with 123 if it is not free");
  add_converted_duration(app, "--for", how.wait_limit, parse_age, "Wait at most so long, and exit with 124 then")
      ->excludes(at_once);
  app.add_option("--id", how.id, "Name that the others see (default host:pid)")->type_name("TEXT");
  add_converted_duration(
      app, "--grace", how.grace, parse_duration,
      "Between SIGTERM and SIGKILL, when the command has to end (default 5s); after a lost lease at most an "
      "eighth of the "
      "session timeout");
  add_converted_duration(
      app, "--session-timeout", how.session_timeout, parse_duration,
      "How long the servers wait for a client that is silent; they have bounds of their own (default 10s)");
}

}  // namespace

void add_lock_options(CLI::App& lock, hold_options& how) {
  add_waiting(lock, how);
  const auto choose = [&how](hold_kind kind) { return [&how, kind] { how.kind = kind; }; };
  auto* permits = lock.add_option("-n,--permits", how.permits, "A semaphore instead: so many may run at a time")
                      ->check(CLI::Range(1, most_permits))
                      ->each([&how](const std::string&) { how.kind = hold_kind::semaphore; })
                      ->type_name("NUMBER");
  auto* read =
      lock.add_flag_callback("--read", choose(hold_kind::read), "A read-write lock, shared with other readers");
  auto* write = lock.add_flag_callback("--write", choose(hold_kind::write), "A read-write lock, alone");
  permits->excludes(read)->excludes(write);
  read->excludes(write);
}

void add_lead_options(CLI::App& lead, hold_options& how) {
  add_waiting(lead, how);
  lead.add_flag("--again", how.again, "After a resignation or a loss, get in line again and run the command once more");
}

std::span<const char* const> without_words(std::span<const char* const> arguments, hold_options& how) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), std::string_view("--"));
  if (dashes == arguments.end()) return arguments;
  how.words.assign(dashes + 1, arguments.end());
  return arguments.first(static_cast<std::size_t>(dashes - arguments.begin()));
}

}  // namespace zkadmin
