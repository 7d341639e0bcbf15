// What the commands are asked for.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zkadmin {

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

}  // namespace zkadmin
