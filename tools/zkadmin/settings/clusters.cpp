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

}  // namespace

std::string cluster_prefix(const std::string& name) { return "clusters." + name + "."; }

std::vector<raw_settings> in_precedence(const raw_settings& file, const raw_settings& variables,
                                        const raw_settings& given) {
  if (const auto named = given.find(key_of_cluster); named != given.end())
    return {file, variables, settings_of(file, named->second), given};
  for (const auto* layer : {&variables, &file})
    if (const auto named = layer->find(key_of_cluster); named != layer->end())
      return {file, settings_of(file, named->second), variables, given};
  return {file, variables, given};
}

}  // namespace zkadmin
