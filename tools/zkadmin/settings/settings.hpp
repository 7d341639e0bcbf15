// The user's settings. The environment takes precedence over the configuration file, and the command line over both.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/log.hpp>
#include <zkrecipes/tls_options.hpp>

#include "settings/recipe_kind.hpp"

namespace zkadmin {

// The limits beyond which something counts as a problem.

/// Each is a setting of the same name, with these defaults. Ages are by this machine's clock against the servers'.
struct problem_limits {
  /// A leader that was asked to give up begins to within some round trips.
  std::chrono::milliseconds resignation_limit{10'000};
  /// For how long a hand-over may be past its deadline. The deadline is when the successor goes on by force, which
  /// takes some round trips; and the clocks of this machine and of the servers may differ by as much.
  std::chrono::milliseconds hand_over_limit{1'000};
  /// For how long nobody may lead although a candidate is in line. A candidate begins its term within some round trips.
  std::chrono::milliseconds takeover_limit{30'000};
  /// For how long a shard may wait for the member that is to own it: its last owner's message in hand and hand-over.
  std::chrono::milliseconds move_limit{120'000};
  /// How old a message may become before it is consumed.
  std::chrono::milliseconds message_limit{300'000};
  /// How long a transaction may be undecided. Coordinators abort after 30 s by default.
  std::chrono::milliseconds transaction_limit{120'000};
  /// For how long more permits of a semaphore may be taken than there are, after it was resized to fewer.
  std::chrono::milliseconds permit_limit{300'000};
  /// How many transactions a server may be behind the leader. The servers are asked one after the other, so those that
  /// the ensemble commits between two answers seem to be missing.
  std::int64_t zxid_limit = 10'000;
};

enum class value_type { text, duration, flag, count, recipes };

/// One setting; the key gives its three names: `key` in the file, `--key`, `ZKADMIN_KEY`.
struct setting {
  std::string_view key;
  value_type type;
  bool is_secret;  ///< Only from the environment: command lines are public; the file can name a file with the secret.
  std::string_view help;
};

std::span<const setting> all_settings() noexcept;

/// Name of the option on the command line, without the leading dashes: "digest-file".
std::string option_name(const setting& which);
/// Name of the environment variable: "ZKADMIN_DIGEST_FILE".
std::string variable_name(const setting& which);

/// A value as text, and where it was found, for messages: "--interval", "config.toml:3: interval".
struct raw_value {
  std::string text;
  std::string source;
};
using raw_settings = std::map<std::string, raw_value, std::less<>>;

using environment = std::function<std::optional<std::string>(const std::string& name)>;
/// The environment of this process.
environment process_environment();

/// The variables that are set; NO_COLOR counts as color=false unless ZKADMIN_COLOR says otherwise.
raw_settings read_environment(const environment& variables);

/// Reads the file that `given` (from --config) names, else the one that the environment names. Returns nothing if that
/// is only a default place and there is no file. Relative paths in the file are relative to its folder. Throws
/// `failure` naming file, line, key and type.
raw_settings read_config_file(const std::optional<std::string>& given, const environment& variables);

struct endpoint {
  std::string host;  ///< Without brackets.
  std::uint16_t port = 2181;
  std::string name;  ///< As shown: "host:port".
  friend bool operator==(const endpoint&, const endpoint&) = default;
};

struct digest_credentials {
  std::string user;
  std::string password;
};

struct settings {
  std::string name;   ///< Name of the cluster, for display; the hosts if not given.
  std::string hosts;  ///< As given, including a root path at the end.
  std::vector<endpoint> servers;
  std::string root = "/";             ///< Elections are looked for at and below it.
  std::vector<std::string> queues{};  ///< Paths of queues.
  std::vector<declared_recipe> recipes{};
  std::chrono::milliseconds interval{1000};
  std::chrono::milliseconds timeout{5000};
  std::optional<digest_credentials> digest;
  std::optional<zkrecipes::tls_options> tls{};
  bool color = true;
  bool ascii = false;
  bool mouse = true;                                     ///< The dashboard takes the wheel.
  endpoint listen{"127.0.0.1", 9141, "127.0.0.1:9141"};  ///< Where the exporter serves its metrics.
  std::chrono::milliseconds refresh{15'000};             ///< Pause between the reads of the exporter.
  problem_limits limits;
  std::string audit_file{};  ///< Empty: none, as the next.
  std::string audit_path{};
  std::uint16_t admin_port = 8080;  ///< That of the AdminServer beside each server; 0: it is not asked.
  zkrecipes::log_hook log{};        ///< Told what happens to a session: for the command itself. Unset: nobody.
};

/// "/app" of "host:1/app": what stands before each path of the session; empty if there is nothing.
std::string chroot_of(const settings& wanted);

/// Merges, checks and converts the layers, which are in growing precedence. Throws `failure` (usage) naming the value's
/// source.
settings resolve_settings(std::span<const raw_settings> layers);

// The clusters that the configuration file names: [clusters.NAME], each with settings of its own. Among the settings of
// the file these have a prefix.

/// "clusters.NAME.", before the keys of its settings, and alone for the cluster itself.
std::string cluster_prefix(const std::string& name);

/// The layers in growing precedence. The settings of the cluster that is asked for win over the others of the file; if
/// its name stands on the command line also over the environment, so that it is this cluster and no other, and the
/// environment's credentials and root are left out. Its settings are left out if a layer above the one that names it
/// has other `hosts`. Throws `failure` (usage) if the file has no such cluster.
std::vector<raw_settings> in_precedence(const raw_settings& file, const raw_settings& variables,
                                        const raw_settings& given);

}  // namespace zkadmin
