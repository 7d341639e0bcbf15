#include "change/audit.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <random>
#include <system_error>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/use_awaitable.hpp>

#include "base/failure.hpp"
#include "base/tasks.hpp"
#include "base/text.hpp"
#include "cluster/collector.hpp"
#include "cluster/nodes.hpp"
#include "cluster/stored_record.hpp"
#include "format/shown_text.hpp"

namespace zkadmin {
namespace {

using zkrecipes::detail::json_object;

constexpr std::size_t longest_word = 1000;  // of a command line, a name or a result
constexpr std::size_t most_bytes_in_node = 2000;

std::string random_id() {
  std::random_device source;
  const auto half = [&source] { return static_cast<std::uint64_t>(source()); };
  return hexadecimal((half() << 32) | half()).substr(2);
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

std::string user_name() {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  const auto id = ::getuid();
  if (::getpwuid_r(id, &entry, buffer.data(), buffer.size(), &found) == 0 && found) return found->pw_name;
  return "uid " + std::to_string(id);
}

/// At most this many bytes of UTF-8, with what tells that it was longer. Fitted again it stays the same.
std::string fit(const std::string& text, std::size_t most) {
  constexpr std::size_t longest_hint = 40;
  auto fitted = well_formed(text);
  return fitted.size() <= most ? fitted : shortened(fitted, most - longest_hint);
}

json_object to_object(const audit_entry& entry, std::size_t most_bytes) {
  json_object object;
  object.set("id", well_formed(entry.id)).set("at_ms", entry.at_ms).set("who", fit(entry.who, longest_word));
  object.set("cluster", fit(entry.cluster, longest_word)).set("command", fit(entry.command, longest_word));
  object.set("requests", fit(entry.requests, most_bytes)).set("state", to_string(entry.state));
  return object.set("result", fit(entry.result, longest_word));
}

std::optional<audit_state> state_named(const std::string& name) {
  for (const auto each : {audit_state::begun, audit_state::done, audit_state::failed})
    if (name == to_string(each)) return each;
  return std::nullopt;
}

/// The file and the node may hold anything: malformed UTF-8 is replaced where it is read, so that what is shown and
/// written again is the same.
std::string text_of(const json_object& object, std::string_view name) { return well_formed(text_field(object, name)); }

std::optional<audit_entry> to_entry(const json_object& object) {
  const auto state = state_named(text_field(object, "state"));
  audit_entry entry{text_of(object, "id"),
                    integer_field(object, "at_ms"),
                    text_of(object, "who"),
                    text_of(object, "cluster"),
                    text_of(object, "command"),
                    text_of(object, "requests"),
                    state.value_or(audit_state::begun),
                    text_of(object, "result")};
  return entry.id.empty() || !state ? std::nullopt : std::optional(std::move(entry));
}

constexpr const char* audit_kind = "audit";

/// The entries as they are stored, each a JSON text. Nothing if the data is no audit log.
std::optional<std::vector<std::string>> stored_entries(const json_object& log) {
  return log.is(audit_kind) ? log.elements("entries") : std::nullopt;
}

/// How many of the last entries are kept.
std::size_t entries_to_keep(const std::vector<std::string>& entries) {
  std::size_t bytes = 1000;  // for what is around the entries
  std::size_t kept = 0;
  while (kept < entries.size() && kept < most_audit_entries) {
    bytes += entries[entries.size() - kept - 1].size() + 1;
    if (bytes > most_audit_bytes) break;
    ++kept;
  }
  return kept;
}

}  // namespace

const char* to_string(audit_state state) noexcept {
  switch (state) {
    case audit_state::begun: return "begun";
    case audit_state::done: return "done";
    case audit_state::failed: return "failed";
  }
  return "?";
}

audit_entry new_entry(std::string cluster, const std::string& command, const std::string& requests) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {random_id(), now / std::chrono::milliseconds(1), user_name() + "@" + host_name(), std::move(cluster), command,
          requests};
}

std::string to_json_line(const audit_entry& entry, std::size_t most_bytes) {
  return to_object(entry, most_bytes).to_text();
}

std::optional<audit_entry> parse_audit_entry(std::string_view line) { return to_entry(parse_stored(line)); }

void put(std::vector<audit_entry>& entries, audit_entry entry) {
  const auto is_it = [&entry](const auto& each) { return each.id == entry.id; };
  const auto place = std::find_if(entries.begin(), entries.end(), is_it);
  if (place == entries.end()) {
    entries.push_back(std::move(entry));
  } else {
    *place = std::move(entry);
  }
}

std::optional<std::vector<audit_entry>> parse_audit_log(std::string_view data) {
  std::vector<audit_entry> all;
  if (data.empty()) return all;
  const auto stored = stored_entries(parse_stored(data));
  if (!stored) return std::nullopt;
  for (const auto& each : *stored) {
    auto entry = parse_audit_entry(each);
    if (entry) all.push_back(std::move(*entry));
  }
  return all;
}

std::size_t unreadable_entries(std::string_view data) {
  const auto stored = stored_entries(parse_stored(data));
  const auto read = parse_audit_log(data);
  return stored && read ? stored->size() - read->size() : 0;
}

std::string audit_log_with(std::string_view data, const audit_entry& entry) {
  auto log = parse_stored(data);  // with what a later version has added
  auto entries = stored_entries(log).value_or(std::vector<std::string>());
  std::erase_if(entries, [&entry](const auto& each) { return text_field(parse_stored(each), "id") == entry.id; });
  entries.push_back(to_json_line(entry, most_bytes_in_node));
  entries.erase(entries.begin(), entries.end() - static_cast<std::ptrdiff_t>(entries_to_keep(entries)));
  return log.set("zkrecipes", audit_kind).set_elements("entries", entries).to_text();
}

namespace {

constexpr std::size_t most_request_bytes = 64 * 1024;
constexpr std::streamoff most_read = 1024 * 1024;

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw failure(exit_code::error, "audit_file: " + printable(file) + ": " + why);
}

std::string last_error() { return std::generic_category().message(errno); }

class open_file {
 public:
  // Not blocking: a pipe without a reader would make us wait for one.
  explicit open_file(const std::string& name)
      : descriptor_(::open(name.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW,
                           0600)) {
    if (descriptor_ < 0) refuse(name, errno == ELOOP ? "it is a symbolic link, or a loop of them" : last_error());
  }
  ~open_file() { ::close(descriptor_); }
  open_file(const open_file&) = delete;
  int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

/// Says if others than its owner may have a part in the file; mostly empty.
std::string doubt_about(const struct ::stat& about) {
  if (about.st_uid != ::geteuid() && about.st_uid != 0) return "it belongs to another user";
  return (about.st_mode & S_IRWXO) != 0 ? "everybody may read or change it" : "";
}

/// Takes a part of a line away, unless somebody else has appended behind it.
void take_back(int descriptor, ::ssize_t written) {
  struct ::stat about {};
  const auto end = ::lseek(descriptor, 0, SEEK_CUR);  // where the part ends
  if (end < written || ::fstat(descriptor, &about) != 0 || about.st_size != end) return;
  if (::ftruncate(descriptor, end - written) != 0) return;  // then it stays, and is counted as no entry
}

}  // namespace

std::string append_audit_line(const std::string& file, const audit_entry& entry) {
  const open_file to(file);
  struct ::stat about {};
  if (::fstat(to.descriptor(), &about) != 0 || !S_ISREG(about.st_mode)) refuse(file, "not a regular file");
  const std::string line = zkrecipes::detail::coded_json(to_json_line(entry, most_request_bytes)) + "\n";
  const auto written = ::write(to.descriptor(), line.data(), line.size());
  if (written < 0) refuse(file, last_error());
  if (static_cast<std::size_t>(written) != line.size()) {
    take_back(to.descriptor(), written);
    refuse(file, "it was not written in full");
  }
  if (::fdatasync(to.descriptor()) != 0) refuse(file, last_error());
  return doubt_about(about);
}

audit_lines read_audit_lines(const std::string& file) {
  audit_lines found;
  struct ::stat about {};
  if (::stat(file.c_str(), &about) != 0) {
    if (errno == ENOENT) return found;
    refuse(file, last_error());
  }
  if (!S_ISREG(about.st_mode)) refuse(file, "not a regular file");
  std::ifstream from(file, std::ios::binary | std::ios::ate);
  if (!from) refuse(file, "cannot be read");
  const std::streamoff size = from.tellg();
  found.is_cut = size > most_read;
  from.seekg(found.is_cut ? size - most_read : 0);
  std::string line;
  if (found.is_cut) std::getline(from, line);  // perhaps a part of one
  while (std::getline(from, line)) {
    auto entry = parse_audit_entry(line);
    if (entry) {
      put(found.entries, std::move(*entry));
    } else {
      ++found.unreadable;
    }
  }
  return found;
}

namespace {

namespace asio = boost::asio;
using zkrecipes::errc;
using zkrecipes::error_code;

/// Each failed try means that another operator has written.
constexpr int most_tries = 50;

struct stored_log {
  bool is_there = false;
  std::string data;
  std::int32_t version = 0;
};

/// A node without data and with children, or of a session, is another's, however empty it is.
bool is_of_others(const std::string& data, const zkrecipes::node_stat& stat) {
  if (data.empty()) return stat.num_children > 0 || stat.ephemeral_owner != 0;
  return !parse_audit_log(data);
}

asio::awaitable<stored_log> read_log(zkrecipes::session session, std::string path) {
  auto read = co_await session.async_get(path, as_result);
  const error_code error = std::get<0>(read);
  if (error == errc::no_node) co_return stored_log{};
  check(error, "audit_path: reading " + path);
  const auto& node = std::get<1>(read);
  if (is_of_others(node.data, node.stat))
    throw failure(exit_code::error, "audit_path: " + printable(path) + " is not an audit log, and is left alone");
  co_return stored_log{true, node.data, node.stat.version};
}

asio::awaitable<error_code> make_log(zkrecipes::session session, std::string path, std::string data) {
  constexpr auto mode = zkrecipes::create_mode::persistent;
  auto made = co_await session.async_create_with_parents(path, std::move(data), mode, as_result);
  co_return std::get<0>(made);
}

asio::awaitable<error_code> write_log(zkrecipes::session session, std::string path, std::string data,
                                      std::int32_t version) {
  auto written = co_await session.async_set(path, std::move(data), version, as_result);
  co_return std::get<0>(written);
}

}  // namespace

asio::awaitable<void> write_audit_node(zkrecipes::session session, std::string path, audit_entry entry) {
  error_code error;
  for (int i = 0; i < most_tries; ++i) {
    auto before = co_await read_log(session, path);
    auto next = audit_log_with(before.data, entry);
    if (before.is_there) {
      error = co_await write_log(session, path, std::move(next), before.version);
    } else {
      error = co_await make_log(session, path, std::move(next));
    }
    if (!error) co_return;
    // After a lost reply the entry may be there: written again, it takes its own place.
    const bool is_conflict = error == errc::bad_version || error == errc::node_exists || error == errc::no_node;
    if (!is_conflict && error != errc::connection_loss) break;
  }
  check(error, "audit_path: writing " + path);
}

asio::awaitable<audit_log> read_audit_node(zkrecipes::session session, std::string path) {
  const auto stored = co_await read_log(session, std::move(path));
  audit_log log;
  log.entries = parse_audit_log(stored.data).value_or(std::vector<audit_entry>());
  log.unreadable = unreadable_entries(stored.data);
  co_return log;
}

}  // namespace zkadmin
