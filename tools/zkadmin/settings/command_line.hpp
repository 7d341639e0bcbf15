// The command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "settings/broker_request.hpp"
#include "settings/requests.hpp"
#include "settings/settings.hpp"
#include "shell/outline.hpp"

namespace zkadmin {

/// The default of `limit`.
inline constexpr std::chrono::milliseconds default_resignation_limit = std::chrono::minutes(1);

/// The options of `resign`.
struct resignation_options {
  bool wait = false;                                 ///< Follow the hand-over to its end.
  bool as_lines = false;                             ///< One JSON object a line.
  std::optional<std::chrono::milliseconds> limit{};  ///< How long to follow it.
  std::optional<std::chrono::milliseconds> grace{};  ///< Then, if `force`, the leader's place is ended.
  bool force = false;
  std::string confirmed{};  ///< The id of that leader.
};

/// Throws `failure` (usage) if the options do not go together.
void require_consistent(const resignation_options& how);

enum class command {
  dashboard,
  status,
  resign,
  expire,
  groups,
  freeze,
  thaw,
  release,
  topics,
  streams,
  recipes,
  check,
  exporter,
  ls,
  get,
  stat,
  tree,
  watch,
  set,
  remove,
  completion,
  man,
  lock,
  lead,
  history,
  audit,
  sessions,
  letters,
  revive,
  discard,
  revive_key,
  drain,
  undrain,
  transfer,
  unpin,
  decide,
  revoke,
  evict,
  drain_instance,
  undrain_instance,
};
enum class output_format { table, json, tsv };

/// The parsed command line.
struct invocation {
  zkadmin::command command = zkadmin::command::dashboard;
  output_format output = output_format::table;
  /// For all but `dashboard` and `status`; may be empty for `groups`, `topics` and `streams`.
  std::string path;
  std::uint32_t shard = 0;            ///< For `group release`.
  bool all_shards = false;            ///< The same.
  std::string session{};              ///< For `expire`; for `sessions`, where it may be empty.
  std::string because{};              ///< For `expire`.
  bool read_write = false;            ///< For what changes something.
  std::vector<std::string> only{};    ///< For `check`.
  bool security = false;              ///< For `check`.
  node_request node{};                ///< For the commands about single nodes.
  std::string shell{};                ///< For `completion`.
  hold_options hold{};                ///< For `lock` and `lead`.
  resignation_options resignation{};  ///< For `resign`.
  std::string kind{};                 ///< For `recipes`; may be empty.
  std::string transaction{};          ///< For `commit decide`.
  queue_request queue{};              ///< For `queue`.
  broker_request broker{};            ///< For `streams` and `check`.
  group_request group{};              ///< For `group drain`, `undrain`, `transfer` and `unpin`.
  line_request line{};                ///< For `revoke`, `evict` and `service`.
  std::optional<std::string> config;
  raw_settings given;
};

/// Parses `arguments`, which do not include the program's name. If they ask for help or the version, prints that to
/// `out` and returns nothing. Throws `failure` (usage).
std::optional<invocation> parse_command_line(std::span<const char* const> arguments, std::ostream& out);

/// The table that the arguments are parsed with.
outlined_command command_outline();

/// The text that `completion` or `man` prints, made from that table.
std::string shell_text(const invocation& asked);

/// Whether the arguments are for `check`, also if they can not be parsed.
bool is_for_check(std::span<const char* const> arguments);

/// Merges file, environment and command line, in growing precedence. Throws `failure`.
settings load_settings(const invocation& asked, const environment& variables);

}  // namespace zkadmin
