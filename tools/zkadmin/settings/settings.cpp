#include "settings/settings.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "settings/values.hpp"

namespace zkadmin {
namespace {

constexpr setting settings_table[] = {
    {"hosts", value_type::text, false, "Servers: host:port[,host:port...][/root]; a missing port means 2181"},
    {"root", value_type::text, false, "Look for elections, shard groups and topics at and below this path (default /)"},
    {"queues", value_type::text, false, "Queues to check: PATH[,PATH...] (default: none)"},
    {"recipes", value_type::recipes, false, "Recipes whose kind nothing tells: KIND:PATH[,KIND:PATH...]"},
    {"name", value_type::text, false, "Name of the cluster, for the title (default: the hosts)"},
    {"cluster", value_type::text, false, "The settings of [clusters.NAME] in the configuration file"},
    {"interval", value_type::duration, false, "Pause between refreshes of the dashboard, 100ms to 1h (default 1s)"},
    {"timeout", value_type::duration, false, "Limit for everything a command waits for, 100ms to 1h (default 5s)"},
    {"digest_file", value_type::text, false,
     "File with the credentials, one line user:password; not readable by everybody"},
    {"digest", value_type::text, true, "The credentials themselves, user:password"},
    {"tls", value_type::flag, false, "Connect by TLS; the other settings of TLS imply it"},
    {"tls_authorities", value_type::text, false, "File or folder with those to trust (default: those of the system)"},
    {"tls_certificate", value_type::text, false, "File with our certificate (PEM)"},
    {"tls_key", value_type::text, false, "File with its key (PEM, not encrypted, not readable by everybody)"},
    {"tls_server_name", value_type::text, false, "The name in the certificate of each server (default: as in hosts)"},
    {"color", value_type::flag, false, "Colours (default: unless NO_COLOR is set)"},
    {"ascii", value_type::flag, false, "Draw with ASCII characters only"},
    {"mouse", value_type::flag, false, "Take the wheel of the mouse (default: true; selecting text then takes shift)"},
    {"listen", value_type::text, false, "Where the exporter serves: address:port (default 127.0.0.1:9141)"},
    {"refresh", value_type::duration, false, "Pause between the reads of the exporter, 100ms to 1h (default 15s)"},
    {"audit_file", value_type::text, false, "Append each intervention to this file (default: none)"},
    {"audit_path", value_type::text, false, "Keep the last 100 interventions in this node (default: none)"},
    {"admin_port", value_type::count, false, "Port of the AdminServer beside each server; 0: none (default 8080)"},
    {"resignation_limit", value_type::duration, false, "Problem: a leader has not begun to give up (default 10s)"},
    {"hand_over_limit", value_type::duration, false, "Problem: a hand-over is past its deadline by this (default 1s)"},
    {"takeover_limit", value_type::duration, false, "Problem: the first in line does not begin (default 30s)"},
    {"move_limit", value_type::duration, false, "Problem: a shard waits for its new owner (default 2m)"},
    {"message_limit", value_type::duration, false, "Problem: a message waits to be consumed (default 5m)"},
    {"transaction_limit", value_type::duration, false, "Problem: a transaction is undecided (default 2m)"},
    {"permit_limit", value_type::duration, false, "Problem: more permits are taken than there are (default 5m)"},
    {"zxid_limit", value_type::count, false, "Problem: a server is so many transactions behind (default 10000)"},
};

std::string replaced(std::string_view text, char from, char to) {
  std::string result(text);
  std::replace(result.begin(), result.end(), from, to);
  return result;
}

/// The value of the last layer that has one.
const raw_value* find(std::span<const raw_settings> layers, std::string_view key) {
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer)
    if (const auto found = layer->find(key); found != layer->end()) return &found->second;
  return nullptr;
}

/// Calls `assign(text)` with the value, if there is one. Puts the value's source in front of the message of an
/// exception.
template <class Assign>
void apply(std::span<const raw_settings> layers, std::string_view key, Assign assign) {
  const raw_value* value = find(layers, key);
  if (!value) return;
  try {
    assign(value->text);
  } catch (const std::invalid_argument& error) {
    throw failure(exit_code::usage, value->source + ": " + error.what());
  }
}

// Takes the credentials from the layer of the highest precedence that has any, given in either of the two ways.
void apply_digest(std::span<const raw_settings> layers, settings& result) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto layer = layers.subspan(i, 1);
    apply(layer, "digest_file",
          [&](const auto& text) { result.digest = parse_digest(read_private_file(text, "one line, user:password")); });
    apply(layer, "digest", [&](const auto& text) { result.digest = parse_digest(text); });
  }
}

/// In each layer the other settings of TLS imply `tls`, whatever a layer below it says.
void apply_tls(std::span<const raw_settings> layers, settings& result) {
  zkrecipes::tls_options tls;
  bool is_wanted = false;
  const std::pair<const char*, std::string*> files[] = {{"tls_authorities", &tls.authorities},
                                                        {"tls_certificate", &tls.certificate},
                                                        {"tls_key", &tls.key},
                                                        {"tls_server_name", &tls.server_name}};
  for (const auto& layer : layers) {
    const std::span<const raw_settings> alone(&layer, 1);
    for (const auto& [key, value] : files) {
      apply(alone, key, [&, value = value](const auto& text) {
        *value = text;
        is_wanted = is_wanted || !text.empty();
      });
    }
    apply(alone, "tls", [&](const auto& text) { is_wanted = parse_flag(text); });
  }
  apply(layers, "tls_key", [](const auto& text) { require_private(text, "the key"); });
  if (is_wanted) result.tls = std::move(tls);
}

void apply_limits(std::span<const raw_settings> layers, problem_limits& limits) {
  const auto age = [layers](std::string_view key, std::chrono::milliseconds& value) {
    apply(layers, key, [&value](const auto& text) { value = parse_age(text); });
  };
  age("resignation_limit", limits.resignation_limit);
  age("hand_over_limit", limits.hand_over_limit);
  age("takeover_limit", limits.takeover_limit);
  age("move_limit", limits.move_limit);
  age("message_limit", limits.message_limit);
  age("transaction_limit", limits.transaction_limit);
  age("permit_limit", limits.permit_limit);
  apply(layers, "zxid_limit", [&limits](const auto& text) { limits.zxid_limit = parse_count(text); });
}

void apply_audit(std::span<const raw_settings> layers, settings& result) {
  apply(layers, "audit_file", [&](const auto& text) { result.audit_file = text; });
  apply(layers, "audit_path", [&](const auto& text) {
    result.audit_path = parse_path(text);
    if (result.audit_path == "/") throw std::invalid_argument("expected the path of a node below the root, found /");
  });
}

}  // namespace

std::span<const setting> all_settings() noexcept { return settings_table; }

std::string option_name(const setting& which) { return replaced(which.key, '_', '-'); }

std::string variable_name(const setting& which) {
  std::string name = "ZKADMIN_" + std::string(which.key);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  return name;
}

std::string chroot_of(const settings& wanted) {
  auto root = wanted.hosts.substr(std::min(wanted.hosts.find('/'), wanted.hosts.size()));
  if (root.ends_with('/')) root.pop_back();
  return root;
}

environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());
    if (!value) return std::nullopt;
    return value;
  };
}

raw_settings read_environment(const environment& variables) {
  raw_settings found;
  if (const auto no_color = variables("NO_COLOR"); no_color && !no_color->empty())
    found["color"] = {"false", "NO_COLOR"};
  for (const auto& each : settings_table) {
    const auto name = variable_name(each);
    if (const auto value = variables(name); value && !value->empty())
      found.insert_or_assign(std::string(each.key), raw_value{*value, name});
  }
  return found;
}

settings resolve_settings(std::span<const raw_settings> layers) {
  settings result;
  apply(layers, "hosts", [&](const auto& text) {
    result.servers = parse_hosts(text);
    result.hosts = text;
  });
  apply(layers, "root", [&](const auto& text) { result.root = parse_path(text); });
  apply(layers, "queues", [&](const auto& text) { result.queues = parse_paths(text); });
  apply(layers, "recipes", [&](const auto& text) { result.recipes = parse_recipes(text); });
  result.name = result.hosts;
  apply(layers, "name", [&](const auto& text) { result.name = text; });
  apply(layers, "interval", [&](const auto& text) { result.interval = parse_duration(text); });
  apply(layers, "timeout", [&](const auto& text) { result.timeout = parse_duration(text); });
  apply(layers, "color", [&](const auto& text) { result.color = parse_flag(text); });
  apply(layers, "ascii", [&](const auto& text) { result.ascii = parse_flag(text); });
  apply(layers, "mouse", [&](const auto& text) { result.mouse = parse_flag(text); });
  apply_digest(layers, result);
  apply_tls(layers, result);
  apply(layers, "listen", [&](const auto& text) { result.listen = parse_listen(text); });
  apply(layers, "refresh", [&](const auto& text) { result.refresh = parse_duration(text); });
  apply_limits(layers, result.limits);
  apply_audit(layers, result);
  apply(layers, "admin_port", [&](const auto& text) { result.admin_port = parse_admin_port(text); });
  if (result.servers.empty())
    throw failure(exit_code::usage,
                  "no servers: give --hosts host:port[,host:port...], or set ZKADMIN_HOSTS, or `hosts` in the "
                  "configuration file");
  return result;
}

namespace {

constexpr const char* key_of_cluster = "cluster";

std::string known_clusters(const raw_settings& file) {
  const auto begin = std::string("clusters.").size();
  std::string names;
  for (const auto& [key, value] : file)
    if (key.starts_with("clusters.") && key.ends_with('.'))
      append_to_list(names, printable(key.substr(begin, key.size() - begin - 1)));
  return names.empty() ? "the configuration file has none" : "known: " + names;
}

/// The settings of this cluster, by their keys.
raw_settings settings_of(const raw_settings& file, const raw_value& cluster) {
  const auto prefix = cluster_prefix(cluster.text);
  if (!file.contains(prefix))
    throw failure(exit_code::usage, cluster.source + ": there is no cluster " + printable(cluster.text) + " (" +
                                        known_clusters(file) + ")");
  raw_settings found{{"name", cluster}};
  for (const auto& [key, value] : file)
    if (key.starts_with(prefix) && key.size() > prefix.size()) found[key.substr(prefix.size())] = value;
  return found;
}

bool has_hosts(const raw_settings& layer) { return layer.contains("hosts"); }

/// What the environment says of a cluster that it does not name may be meant for another one.
raw_settings fit_for_any_cluster(raw_settings variables) {
  for (const char* each :
       {"digest", "digest_file", "root", "tls", "tls_authorities", "tls_certificate", "tls_key", "tls_server_name"})
    variables.erase(each);
  return variables;
}

/// Other servers are another cluster: neither its name nor its credentials, its paths and its audit log are for them.
std::vector<raw_settings> with_cluster(const raw_settings& file, const raw_settings& cluster,
                                       const raw_settings& variables, const raw_settings& given,
                                       bool are_servers_others) {
  if (are_servers_others) return {file, variables, given};
  return {file, cluster, variables, given};
}

}  // namespace

std::string cluster_prefix(const std::string& name) { return "clusters." + name + "."; }

std::vector<raw_settings> in_precedence(const raw_settings& file, const raw_settings& variables,
                                        const raw_settings& given) {
  if (const auto named = given.find(key_of_cluster); named != given.end())
    return {file, fit_for_any_cluster(variables), settings_of(file, named->second), given};
  if (const auto named = variables.find(key_of_cluster); named != variables.end())
    return with_cluster(file, settings_of(file, named->second), variables, given, has_hosts(given));
  if (const auto named = file.find(key_of_cluster); named != file.end())
    return with_cluster(file, settings_of(file, named->second), variables, given,
                        has_hosts(variables) || has_hosts(given));
  return {file, variables, given};
}

}  // namespace zkadmin
