// The configuration file.
#include "settings/settings.hpp"

#include "base/failure.hpp"
#include "fuzz/target.hpp"
#include "fuzz/written_file.hpp"

namespace fuzz::settings_target {

using namespace zkadmin;

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

const target known("settings", read_settings);

}  // namespace fuzz::settings_target
