// The audit log, the configuration, and values in them.
#include <stdexcept>

#include "base/failure.hpp"
#include "change/audit.hpp"
#include "fuzz/target.hpp"
#include "fuzz/written_file.hpp"
#include "sessions/session_end.hpp"
#include "settings/settings.hpp"
#include "settings/values.hpp"

namespace fuzz::zkadmin_files_targets {

using namespace zkadmin;

// The audit log: entries in a file, one a line, and the data of a node.

constexpr std::size_t most_bytes = 100'000;

void read_entry(std::string_view line) {
  const auto entry = parse_audit_entry(line);
  if (!entry) return;
  const auto text = to_json_line(*entry, most_bytes);
  require(text.find('\n') == text.npos, "an entry is one line");
  const auto again = parse_audit_entry(text);
  require(again && again->id == entry->id && again->state == entry->state, "an entry reads the same");
  require(to_json_line(*again, most_bytes) == text, "an entry that was read is written the same");
}

void read_log(std::string_view data) {
  const auto log = parse_audit_log(data);
  if (!log) return;
  const audit_entry added{"f00", 1, "who@here", "test", "zkadmin set", "set /a", audit_state::begun};
  const auto text = audit_log_with(data, added);
  require(text.size() <= most_audit_bytes + data.size() + 2'000, "the log is bounded");
  const auto again = parse_audit_log(text);
  require(again && !again->empty() && again->back() == added, "the entry that was added is the last one");
  require(again->size() <= most_audit_entries, "there are so many entries at most");
}

void read_audit(std::string_view input) {
  for (const auto& each : lines_of(input)) read_entry(each);
  read_log(input);
}

// The configuration file.

bool is_of_cluster(const std::string& key) { return key.starts_with("clusters."); }

void require_bounds(const settings& all) {
  using namespace std::chrono_literals;
  require(!all.servers.empty() && all.root.starts_with('/'), "there are servers and a root");
  require(all.interval >= 100ms && all.interval <= 1h && all.timeout >= 100ms, "times are in their bounds");
  for (const auto& each : all.queues) require(each.starts_with('/'), "a queue has a path");
  for (const auto& each : all.recipes) require(each.path.starts_with('/'), "a recipe has a path");
}

void read_settings(std::string_view input) try {
  static const written_file file;
  file.write(input);
  const auto nothing = [](const std::string&) { return std::nullopt; };
  const auto found = read_config_file(file.path(), nothing);
  const raw_settings variables, given;
  auto layers = in_precedence(found, variables, given);
  for (auto& layer : layers) layer.erase("digest_file");  // any file could be named
  require_bounds(resolve_settings(layers));
  for (const auto& [key, value] : found) require(is_of_cluster(key) || !value.source.empty(), "a value has a source");
} catch (const failure& refused) {
  require(refused.code() == exit_code::usage, "a refusal is a mistake of the user");
  require(refused.what()[0] != '\0', "a refusal has a reason");
}

// Values of settings and of arguments.

/// Calls the parser, and checks what it returns or the reason of its refusal.
template <class Parse, class Check>
void attempt(std::string_view input, Parse parse, Check check) try {
  check(parse(input));
} catch (const std::invalid_argument& refused) {
  require(!has_control(refused.what()), "no control character is shown");
}

void require_path(const std::string& path) {
  const bool is_good = path.starts_with('/') && (path == "/" || !path.ends_with('/')) && path.find("//") == path.npos;
  require(is_good, "a path is absolute, without empty parts");
}

void require_endpoint(const endpoint& server) {
  require(!server.host.empty() && !server.name.empty(), "a server has a name");
  require(server.name.ends_with(":" + std::to_string(server.port)), "the name shows the port");
}

void read_sizes(std::string_view input) {
  using namespace std::chrono_literals;
  attempt(input, parse_duration, [](auto time) { require(time >= 100ms && time <= 1h, "a duration in bounds"); });
  attempt(input, parse_age, [](auto time) { require(time >= 100ms && time <= 1000h, "an age in bounds"); });
  attempt(input, parse_count, [](auto n) { require(n >= 0 && n <= 1'000'000'000'000, "a count in bounds"); });
  attempt(input, parse_flag, [](bool) {});
}

void read_session(const std::string& text) try {
  const auto id = parse_session(text);
  require(id != 0 && password_of(id).size() == 16, "a session has a password");
} catch (const failure& refused) {
  require(refused.code() == exit_code::usage, "a refusal is a mistake of the user");
  require(!has_control(refused.what()), "no control character is shown");
}

void read_values(std::string_view input) {
  read_sizes(input);
  attempt(input, parse_path, require_path);
  attempt(input, parse_paths, [](const auto& all) {
    for (const auto& each : all) require_path(each);
  });
  attempt(input, parse_listen, require_endpoint);
  attempt(input, parse_hosts, [](const auto& all) {
    require(!all.empty() && all.size() <= 64, "so many servers");
    for (const auto& each : all) require_endpoint(each);
  });
  attempt(input, parse_recipes, [](const auto& all) {
    for (const auto& each : all) require_path(each.path);
  });
  attempt(input, parse_kind, [](recipe which) { require(which != recipe::none, "a kind is a recipe"); });
  attempt(input, parse_digest, [](const auto& who) {
    require(!who.user.empty() && !who.password.empty() && who.user.find(':') == who.user.npos, "user and password");
  });
  read_session(std::string(input));
}

const target known[] = {{"audit", read_audit}, {"settings", read_settings}, {"values", read_values}};

}  // namespace fuzz::zkadmin_files_targets
