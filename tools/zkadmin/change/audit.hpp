// The audit log of interventions: its entries, in a file of this machine, and in a node of the cluster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

namespace zkadmin {

/// Begun: written before anything is sent. Without an end the intervention may have been executed or not.
enum class audit_state { begun, done, failed };

const char* to_string(audit_state state) noexcept;

struct audit_entry {
  std::string id;          ///< Drawn anew for each intervention.
  std::int64_t at_ms = 0;  ///< Since 1970, by the clock of the machine on which zkadmin ran.
  std::string who;         ///< "user@host".
  std::string cluster;
  std::string command;   ///< The command line.
  std::string requests;  ///< As they were shown, one a line.
  audit_state state = audit_state::begun;
  std::string result{};  ///< What the user was told; empty while begun.
  friend bool operator==(const audit_entry&, const audit_entry&) = default;
};

/// A new entry, at this moment, of this user. `most`: so many bytes of the requests and of the command line are kept.
audit_entry new_entry(std::string cluster, const std::string& command, const std::string& requests);

/// One JSON object in UTF-8, without a line end. Longer requests are shortened to `most_bytes`.
std::string to_json_line(const audit_entry& entry, std::size_t most_bytes);
/// Nothing if the text is no such entry. Malformed UTF-8 in it is replaced by U+FFFD, so the entry is written as it was
/// read.
std::optional<audit_entry> parse_audit_entry(std::string_view line);

/// Puts an entry behind the others, or in the place of the one with its id.
void put(std::vector<audit_entry>& entries, audit_entry entry);

/// The data of the node that holds the log.
inline constexpr std::size_t most_audit_entries = 100;
inline constexpr std::size_t most_audit_bytes = 64 * 1024;

/// Nothing if the data is no audit log. No data is an empty one.
std::optional<std::vector<audit_entry>> parse_audit_log(std::string_view data);
/// How many entries of an audit log can not be read: a later version has written them. They stay where they are.
std::size_t unreadable_entries(std::string_view data);
/// `data`, which is an audit log, with an entry put into it; the oldest are left out beyond 100 entries or 64 KiB. The
/// other entries, and fields of later versions, stay as they are written.
std::string audit_log_with(std::string_view data, const audit_entry& entry);

// The audit log in a file of this machine: one JSON object a line.

/// Appends one line, in one write. A file that is missing is made for its owner alone. Throws `failure`; a part of the
/// line that was written is taken away. Returns why others may have a part in the file; mostly empty.
std::string append_audit_line(const std::string& file, const audit_entry& entry);

struct audit_lines {
  std::vector<audit_entry> entries;  ///< The last line of each intervention, in the order in which they began.
  std::size_t unreadable = 0;        ///< Lines that are no entries.
  bool is_cut = false;               ///< The file is longer than 1 MiB: only its end was read.
};

/// Throws `failure`, also if it is no regular file: a pipe would make us wait. A file that is missing is empty.
audit_lines read_audit_lines(const std::string& file);

// The audit log in a node of the cluster, so that others see it.

/// Writes the entry into the log at `path`, which is made if it is missing. Other operators may do so at the same time:
/// each write is on condition of the version that was read. Throws `failure`, also if the node holds other data, or
/// is not of an audit log alone.
boost::asio::awaitable<void> write_audit_node(zkrecipes::session session, std::string path, audit_entry entry);

struct audit_log {
  std::vector<audit_entry> entries{};
  std::size_t unreadable = 0;  ///< Further entries, of a later version.
};

/// The log at `path`; an empty one if there is no node. Throws `failure`.
boost::asio::awaitable<audit_log> read_audit_node(zkrecipes::session session, std::string path);

}  // namespace zkadmin
