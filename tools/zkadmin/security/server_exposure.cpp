#include "security/server_exposure.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <boost/json/object.hpp>

#include "cluster/admin_object.hpp"

namespace zkadmin {
namespace {

namespace json = boost::json;

constexpr std::size_t most_secrets = 20;

/// The value of a line "key=value"; nothing: there is no such line.
std::optional<std::string_view> line_value(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    if (line.starts_with(key) && line.substr(key.size()).starts_with('=')) return line.substr(key.size() + 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::nullopt;
}

std::optional<int> port_in(std::string_view text, std::string_view key) {
  const auto value = line_value(text, key);
  if (!value) return std::nullopt;
  int port = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), port);
  if (error != std::errc() || port < -1 || port > 65'535) return std::nullopt;
  return port;
}

/// A password, or the digest of a super user. Paths of files with passwords are none.
bool names_secret(std::string_view property) {
  std::string name(property);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name.ends_with("password") || name.ends_with("superdigest");
}

std::string text_of_property(const json::object& all, const char* name) {
  const auto* value = all.if_contains(name);
  return value && value->is_string() ? std::string(value->as_string()) : std::string();
}

}  // namespace

bool add_conf(server_exposure& seen, std::string_view answer) {
  const auto plain = port_in(answer, "clientPort"), secure = port_in(answer, "secureClientPort");
  if (!plain) return false;
  seen.has_plain_port = *plain > 0;
  if (secure) seen.has_secure_port = *secure > 0;
  return true;
}

std::string add_properties(server_exposure& seen, std::string_view body) {
  std::string trouble;
  const auto object = admin_object(body, "system_properties", trouble);
  if (!object) return trouble;
  for (const auto& [name, value] : *object) {
    const std::string_view key(name.data(), name.size());
    const bool is_filled = value.is_string() && !value.as_string().empty();
    if (is_filled && names_secret(key) && seen.secrets.size() < most_secrets) seen.secrets.emplace_back(key);
  }
  std::sort(seen.secrets.begin(), seen.secrets.end());
  seen.skips_acls = text_of_property(*object, "zookeeper.skipACL") == "yes";
  if (text_of_property(*object, "zookeeper.4lw.commands.whitelist").find('*') != std::string::npos)
    seen.all_words = true;
  return {};
}

bool is_trace_mask(std::string_view answer) noexcept {
  return !answer.empty() && answer.size() < 20 &&
         std::all_of(answer.begin(), answer.end(), [](char c) { return (c >= '0' && c <= '9') || c == '\n'; });
}

bool is_forbidden_word(std::string_view answer) noexcept {
  return answer.find("is not executed because it is not in the whitelist") != answer.npos;
}

}  // namespace zkadmin
