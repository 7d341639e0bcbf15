#include "settings/clusters.hpp"

#include "failure.hpp"
#include "text.hpp"

namespace zkadmin {
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
