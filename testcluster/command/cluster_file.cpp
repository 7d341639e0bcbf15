#include "cluster_file.hpp"

#include <sstream>
#include <stdexcept>

#include <testcluster/error.hpp>

#include "options.hpp"
#include "register.hpp"
#include "toml_section.hpp"

namespace testcluster::command {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

template <class Field, class Value>
void take(Field& into, const std::optional<Value>& value) {
  if (value) into = static_cast<Field>(*value);
}

void read_session_limits(toml_section& from, ensemble_options& into) {
  const auto* value = from.find("session_limits");
  if (value == nullptr) return;
  const std::string expected = "expected the shortest and the longest timeout, such as [\"1s\", \"20s\"]";
  const auto* limits = value->as_array();
  if (limits == nullptr || limits->size() != 2) from.refuse("session_limits", expected);
  const auto limit = [&](std::size_t i) {
    const auto text = (*limits)[i].value_exact<std::string>();
    const auto parsed = text ? parse_duration(*text) : std::nullopt;
    if (!parsed || *parsed < 1ms || *parsed > 24h) from.refuse("session_limits", expected + ", each 1ms to 24h");
    return *parsed;
  };
  into.min_session_timeout = limit(0);
  into.max_session_timeout = limit(1);
}

std::string property_value(const toml::node& value) {
  std::ostringstream text;
  if (const auto as_text = value.value_exact<std::string>()) {
    text << *as_text;
  } else if (const auto number = value.value_exact<std::int64_t>()) {
    text << *number;
  } else if (const auto flag = value.value_exact<bool>()) {
    text << (*flag ? "true" : "false");
  } else {
    throw std::invalid_argument("expected a text, a whole number, true or false");
  }
  return text.str();
}

/// Properties have dots in their names, which TOML reads as tables in tables.
void read_properties(const toml_section& from, const toml::table& table, const std::string& prefix,
                     std::vector<std::string>& lines) {
  for (const auto& [key, value] : table) {
    const auto name = prefix + std::string(key.str());
    if (const auto* inner = value.as_table()) {
      read_properties(from, *inner, name + ".", lines);
      continue;
    }
    try {
      const auto line = name + "=" + property_value(value);
      if (const auto problem = detail::problem_in({.extra_config = {line}})) throw std::invalid_argument(problem->what);
      lines.push_back(line);
    } catch (const std::invalid_argument& problem) {
      from.refuse(value, "config." + name, problem.what());
    }
  }
}

void read_config(toml_section& from, ensemble_options& into) {
  const auto* value = from.find("config");
  if (value == nullptr) return;
  if (!value->is_table()) from.refuse("config", "expected a table [config] with properties of zoo.cfg");
  read_properties(from, *value->as_table(), "", into.extra_config);
}

void read_servers(toml_section& from, ensemble_options& into) {
  take(into.servers, from.number("servers", 1, 9));
  take(into.observers, from.number("observers", 0, 8));
  take(into.heap_mib, from.number("heap_mib", 32, 65'536));
  take(into.tick_time, from.duration("tick", 10ms, 1h));
  take(into.init_limit, from.number("init_limit", 1, 10'000));
  take(into.sync_limit, from.number("sync_limit", 1, 10'000));
  read_session_limits(from, into);
  take(into.force_sync, from.flag("force_sync"));
  if (const auto words = from.texts("four_letter_words")) into.four_letter_words = *words;
  take(into.tls, from.flag("tls"));
  take(into.digest_superuser, from.flag("digest_superuser"));
  take(into.auth_required, from.flag("auth_required"));
  take(into.admin_server, from.flag("admin_server"));
  take(into.base_port, from.number("base_port", 1024, 65'000));
  take(into.start_timeout, from.duration("start_timeout", 1s, 1h));
}

void read_proxies(toml_section& from, ensemble_options& into) {
  const bool proxies = from.flag("proxies").value_or(false);
  const auto delay = from.duration("delay", 0ms, 60s);
  into.delay_proxies = proxies || delay;
  into.peer_proxies = proxies;
  into.delay = delay.value_or(0ms);
}

std::string key_of(const std::string& field) {
  if (field == "min_session_timeout" || field == "max_session_timeout") return "session_limits";
  return field == "tick_time" ? "tick" : field;
}

}  // namespace

cluster_settings read_cluster_file(const std::filesystem::path& file) {
  const auto table = read_toml(file);
  toml_section section(file, table);
  cluster_settings found;
  found.name = section.text("name").value_or("");
  if (!found.name.empty() || table.contains("name")) {
    if (const auto problem = name_problem(found.name); !problem.empty()) section.refuse("name", problem);
  }
  read_servers(section, found.ensemble);
  read_proxies(section, found.ensemble);
  read_config(section, found.ensemble);
  section.finish();
  if (const auto problem = detail::problem_in(found.ensemble)) section.refuse(key_of(problem->field), problem->what);
  return found;
}

}  // namespace testcluster::command
