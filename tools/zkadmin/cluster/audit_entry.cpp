#include "cluster/audit_entry.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <random>
#include <utility>

#include <pwd.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "cluster/stored_record.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

namespace json = boost::json;

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

std::string fit(const std::string& text, std::size_t most) { return well_formed(shortened(text, most)); }

json::object to_object(const audit_entry& entry, std::size_t most_bytes) {
  json::object object;
  object["id"] = entry.id;
  object["at_ms"] = entry.at_ms;
  object["who"] = fit(entry.who, longest_word);
  object["cluster"] = fit(entry.cluster, longest_word);
  object["command"] = fit(entry.command, longest_word);
  object["requests"] = fit(entry.requests, most_bytes);
  object["state"] = to_string(entry.state);
  object["result"] = fit(entry.result, longest_word);
  return object;
}

std::optional<audit_state> state_named(const std::string& name) {
  for (const auto each : {audit_state::begun, audit_state::done, audit_state::failed})
    if (name == to_string(each)) return each;
  return std::nullopt;
}

std::optional<audit_entry> to_entry(const json::object& object) {
  const auto state = state_named(text_field(object, "state"));
  audit_entry entry{text_field(object, "id"),           integer_field(object, "at_ms"), text_field(object, "who"),
                    text_field(object, "cluster"),      text_field(object, "command"),  text_field(object, "requests"),
                    state.value_or(audit_state::begun), text_field(object, "result")};
  return entry.id.empty() || !state ? std::nullopt : std::optional(std::move(entry));
}

constexpr const char* audit_kind = "audit";

/// The entries as they are stored. Nothing if the data is no audit log.
std::optional<json::array> stored_entries(const json::object& log) {
  const auto* entries = log.if_contains("entries");
  if (text_field(log, "zkrecipes") != audit_kind || !entries || !entries->is_array()) return std::nullopt;
  return entries->get_array();
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
  return json::serialize(to_object(entry, most_bytes));
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
    auto entry = each.is_object() ? to_entry(each.get_object()) : std::nullopt;
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
  auto entries = stored_entries(log).value_or(json::array());
  const auto is_it = [&entry](const json::value& each) {
    return each.is_object() && text_field(each.get_object(), "id") == entry.id;
  };
  entries.erase(std::remove_if(entries.begin(), entries.end(), is_it), entries.end());
  entries.push_back(to_object(entry, most_bytes_in_node));
  std::size_t bytes = 1000;  // for what is around the entries
  auto first = entries.end();
  while (first != entries.begin() && entries.end() - first < static_cast<std::ptrdiff_t>(most_audit_entries)) {
    bytes += json::serialize(*std::prev(first)).size() + 1;
    if (bytes > most_audit_bytes) break;
    --first;
  }
  entries.erase(entries.begin(), first);
  log["zkrecipes"] = audit_kind;
  log["entries"] = std::move(entries);
  return json::serialize(log);
}

}  // namespace zkadmin
