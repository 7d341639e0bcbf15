#include "settings/command_options.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "base/text.hpp"
#include "settings/values.hpp"
#include "shell/outline.hpp"

namespace zkadmin {
namespace {

output_format format_named(const std::string& name) {
  if (name == "table") return output_format::table;
  if (name == "json") return output_format::json;
  if (name == "tsv") return output_format::tsv;
  throw CLI::ValidationError("--output", "expected table, json or tsv, found \"" + printable(name) + "\"");
}

const char* type_name_of(const setting& which) {
  for (const auto* each : {"digest_file", "tls_authorities", "tls_certificate", "tls_key"})
    if (which.key == each) return "FILE";
  if (which.type == value_type::duration) return "DURATION";
  return which.type == value_type::count ? "NUMBER" : "TEXT";
}

/// An option of TLS: that it is given, also without a value, means that TLS is wanted.
void add_broker_tls_text(CLI::App& app, broker_tls_request& asked, std::string broker_tls_request::*field,
                         const char* option, const char* type, const char* help) {
  const auto keep = [&asked, field](const std::string& text) {
    asked.is_wanted = true;
    asked.*field = text;
  };
  app.add_option_function<std::string>(option, keep, help)->type_name(type);
}

void add_broker_tls(CLI::App& app, broker_tls_request& asked) {
  using request = broker_tls_request;
  const auto want = [&asked](std::int64_t) { asked.is_wanted = true; };
  app.add_flag_function("--broker-tls", want, "Connect to the broker by TLS; the next four imply it");
  add_broker_tls_text(app, asked, &request::authorities, "--broker-tls-authorities", "FILE",
                      "File or folder with those to trust (default: those of the system)");
  add_broker_tls_text(app, asked, &request::certificate, "--broker-tls-certificate", "FILE",
                      "File with our certificate for the broker (PEM)");
  add_broker_tls_text(app, asked, &request::key, "--broker-tls-key", "FILE",
                      "File with its key (PEM, not encrypted, not readable by everybody)");
  add_broker_tls_text(app, asked, &request::server_name, "--broker-tls-server-name", "TEXT",
                      "The name in the certificate of each broker (default: as in --broker)");
}

void add_setting(CLI::App& app, const setting& which, raw_settings& given) {
  const std::string option = "--" + option_name(which);
  const std::string key(which.key);
  const std::string help(which.help);
  if (which.type == value_type::flag) {
    const auto store = [&given, key, option](const bool& on) { given[key] = {on ? "true" : "false", option}; };
    app.add_flag_function(
           option + ",!--no-" + option_name(which), [store](std::int64_t n) { store(n > 0); }, help)
        ->group(settings_group);
  } else {
    const auto store = [&given, key, option](const std::string& text) { given[key] = {text, option}; };
    app.add_option_function<std::string>(option, store, help)->type_name(type_name_of(which))->group(settings_group);
  }
}

}  // namespace

void add_common(CLI::App& app, invocation& asked) {
  app.add_option("--config", asked.config, "Configuration file (TOML)")->type_name("FILE")->group(settings_group);
  for (const auto& each : all_settings())
    if (!each.is_secret) add_setting(app, each, asked.given);
}

CLI::App& add_command(CLI::App& app, invocation& asked, command which, const char* name, const char* help) {
  auto& added = *app.add_subcommand(name, help);
  add_common(added, asked);
  added.callback([&asked, which] { asked.command = which; });
  return added;
}

void add_format(CLI::App& app, invocation& asked) {
  const auto keep_format = [&asked](const std::string& name) { asked.output = format_named(name); };
  app.add_option_function<std::string>("-o,--output", keep_format, "table, json or tsv (default table)")
      ->type_name("table|json|tsv");
}

void add_duration(CLI::App& app, const char* name, std::optional<std::chrono::milliseconds>& into, const char* help) {
  const auto keep = [name, &into](const std::string& text) {
    try {
      into = parse_duration(text);
    } catch (const std::invalid_argument& error) {
      throw CLI::ValidationError(name, error.what());
    }
  };
  app.add_option_function<std::string>(name, keep, help)->type_name("DURATION");
}

void add_broker(CLI::App& app, invocation& asked) {
  app.add_option(
         "--broker", asked.broker.address,
         "Ask this broker what waits in streams, too; behind the slash a database of Redis, or a virtual host of "
         "RabbitMQ")
      ->type_name("HOST:PORT[/SPACE]");
  app.add_option("--broker-credentials", asked.broker.credentials_file,
                 "File with the credentials for the broker, one line user:password; not readable by everybody")
      ->type_name("FILE");
  add_broker_tls(app, asked.broker.tls);
}

void add_line_format(CLI::App& app, bool& as_lines) {
  const auto keep_format = [&as_lines](const std::string& name) {
    if (name != "table" && name != "ndjson")
      throw CLI::ValidationError("--output", "expected table or ndjson, found \"" + printable(name) + "\"");
    as_lines = name == "ndjson";
  };
  app.add_option_function<std::string>("-o,--output", keep_format, "With --wait: table or ndjson (default table)")
      ->type_name("FORMAT");
}

void add_change(CLI::App& app, invocation& asked, const char* path_help) {
  app.add_option("path", asked.path, path_help)->required();
  app.add_flag("--rw", asked.read_write, "Do it; without this the requests are only shown");
}

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
