#include "cluster/audit_entry.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <utility>

#include <pwd.h>
#include <unistd.h>

#include "cluster/stored_record.hpp"
#include "text.hpp"

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

}  // namespace zkadmin
