#include "settings/command_options.hpp"

#include <stdexcept>
#include <string>

#include "settings/values.hpp"
#include "shell/outline.hpp"
#include "text.hpp"

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

}  // namespace zkadmin
