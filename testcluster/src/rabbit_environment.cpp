#include "rabbit_environment.hpp"

#include "environment.hpp"

namespace testcluster::detail {

// RabbitMQ wants epmd once a minute, whatever the node's own flags say: it runs `erl`, which would start epmd. These
// flags reach that `erl` as well. With port 1 it does not reach an epmd of somebody else either.
std::vector<std::string> erlang_environment(const std::filesystem::path& home) {
  return {"PATH=" + environment("PATH", "/usr/bin:/bin"),
          "HOME=" + home.string(),
          "LANG=C.UTF-8",
          "ERL_FLAGS=-start_epmd false",
          "ERL_EPMD_PORT=1",
          "ERL_CRASH_DUMP_SECONDS=0"};
}

std::vector<std::string> rabbit_environment(const std::filesystem::path& home, const std::filesystem::path& folder,
                                            const std::string& name, int distribution_port) {
  auto all = erlang_environment(home);
  const auto add = [&](const std::string& key, const std::string& value) {
    all.push_back("RABBITMQ_" + key + "=" + value);
  };
  const auto add_file = [&](const std::string& key, const char* file) { add(key, (folder / file).string()); };
  add("NODENAME", name);
  add("USE_LONGNAME", "true");
  add("DIST_PORT", std::to_string(distribution_port));
  add("ALLOW_INPUT", "1");          // the script becomes the Erlang machine, and does not wait for it as a shell
  add("SCHEDULER_BIND_TYPE", "u");  // the default binds the only scheduler of each node to the same processor
  add("LOGS", "-");
  add_file("CONF_ENV_FILE", "env.conf");
  add_file("CONFIG_FILE", "rabbitmq.conf");
  add_file("ADVANCED_CONFIG_FILE", "advanced.config");
  add_file("ENABLED_PLUGINS_FILE", "enabled_plugins");
  add_file("PID_FILE", "pid");
  add_file("MNESIA_BASE", "data");
  add_file("MNESIA_DIR", "data/node");
  add_file("FEATURE_FLAGS_FILE", "data/feature_flags");
  add_file("LOG_BASE", "logs");
  return all;
}

}  // namespace testcluster::detail
