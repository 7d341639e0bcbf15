// The command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "settings/settings.hpp"
#include "shell/outline.hpp"

namespace zkadmin {

// What the commands are asked for.

enum class node_format { table, json, ndjson, tsv };

/// How `get` prints data.
enum class data_form { plain, hex, base64 };

struct node_request {
  std::string path;
  node_format format = node_format::table;
  bool recursive = false;                ///< `ls`, `delete`
  bool is_long = false;                  ///< `ls`
  std::optional<std::uint32_t> depth{};  ///< `tree`; nothing: without a limit.
  std::optional<std::uint64_t> count{};  ///< `watch`: ends after so many changes.
  data_form form = data_form::plain;     ///< `get`
  std::optional<std::string> data{};     ///< `set`; nothing: from the file, else from standard input.
  std::optional<std::string> file{};
  std::optional<std::int32_t> version{};  ///< `set`, `delete`; nothing: the version that is read.
  bool force = false;                     ///< Also what a recipe keeps.
  std::optional<std::string> yes{};       ///< The path once more, in place of the question.
  bool read_write = false;
};

// What the command `queue` is asked for.

struct queue_request {
  std::string path;   ///< That of the queue, of a topic, or of streams.
  std::string group;  ///< The group of a topic or of streams; empty: it is a queue.
  /// The name of a letter's node; empty: all.
  std::string letter;
  bool all = false;
  std::string key;                   ///< A parked key, or the name of its mark.
  std::optional<std::string> yes{};  ///< The path once more, in place of the question.
  bool read_write = false;
};

// What `group drain`, `undrain`, `transfer` and `unpin` are asked for.

/// How an intervention is followed to its end.
struct wait_options {
  bool wait = false;
  std::optional<std::chrono::milliseconds> limit{};  ///< For how long; nothing: a minute.
};

struct group_request {
  std::string member;  ///< Its id.
  std::uint32_t shard = 0;
  wait_options how{};
};

// What the commands about lines and services are asked for: revoke, evict, service.

/// The default of `line_request::limit`.
inline constexpr std::chrono::milliseconds default_revocation_limit = std::chrono::minutes(1);

struct line_request {
  std::string kind{};                                ///< Kind of the recipe at the path; empty: recognised.
  std::string of{};                                  ///< `revoke`: a holder's id or node; empty: all holders.
  std::string node{};                                ///< `evict`
  std::string id{};                                  ///< `evict`
  bool in_curators_form = false;                     ///< `revoke`
  bool wait = false;                                 ///< `revoke`: until they have gone.
  bool as_lines = false;                             ///< One JSON object a line.
  std::optional<std::chrono::milliseconds> limit{};  ///< How long to wait for that.
  std::optional<std::chrono::milliseconds> grace{};
  bool force = false;
  std::optional<std::string> yes{};  ///< The path once more, in place of the question.
  std::string instance{};            ///< `service`
};

/// Both throw `failure` (usage) if the options do not go together.
void require_revocation(const line_request& how);
void require_eviction(const line_request& how);

// What `zkadmin lock` and `zkadmin lead` are asked to do.

enum class hold_kind { lock, read, write, semaphore, leadership };

struct hold_options {
  hold_kind kind = hold_kind::lock;
  std::int32_t permits = 0;  ///< Size of the semaphore.
  std::string id{};          ///< As the others see us. Empty: host:pid.
  bool waits = true;         ///< For others that have it or are in line.
  std::optional<std::chrono::milliseconds> wait_limit{};
  std::chrono::milliseconds grace{5'000};  ///< Between SIGTERM and SIGKILL.
  std::chrono::milliseconds session_timeout{10'000};
  bool again = false;                ///< After a loss or a resignation: get in line once more.
  std::vector<std::string> words{};  ///< The command and its arguments.
};

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

/// The options of secure connections to a broker, as the command line has it. An empty text stands for what
/// `tls_options` has by default.
struct broker_tls_request {
  bool is_wanted = false;  ///< One of the options was given.
  std::string authorities{};
  std::string certificate{};
  std::string key{};
  std::string server_name{};
};

/// As the command line has it.
struct broker_request {
  std::string address;           ///< host:port[,host:port...][/space]; empty: no broker is asked.
  std::string credentials_file;  ///< Empty: none.
  broker_tls_request tls{};
};

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
  bool all_shards = false;            ///< For `group release`.
  std::string session{};              ///< For `expire`; for `sessions`, where it may be empty.
  std::string because{};              ///< For `expire`.
  std::optional<std::string> yes{};   ///< The same: the session once more, in place of the question.
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
