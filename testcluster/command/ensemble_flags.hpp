#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <testcluster/ensemble.hpp>

namespace CLI {
class App;
}

namespace testcluster::command {

/// The options of `up` and `exec` that describe the ensemble. The others stay as they were.
struct ensemble_flags {
  std::filesystem::path file;
  std::optional<int> servers, observers, heap_mib, sync_limit, base_port;
  std::optional<std::int64_t> tick, delay;
  std::vector<std::int64_t> session_limits;
  std::vector<std::string> words, config;
  bool force_sync = false, tls = false, admin_server = false, proxies = false, digest_superuser = false,
       auth_required = false;
};

void add_ensemble_flags(CLI::App& to, ensemble_flags& into);

/// Changes what was given. Throws CLI::ValidationError naming the option if the outcome can not be used.
void apply(const ensemble_flags& given, ensemble_options& to);

}  // namespace testcluster::command
