#include "security/server_exposure.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>
#include <utility>

#include <boost/json/object.hpp>

#include "servers/admin_client.hpp"

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

namespace {

namespace asio = boost::asio;

constexpr std::size_t longest_exposure_answer = 256 * 1024;

/// Empty: the word is told or closed.
std::string gap_of_word(const char* word, const word_answer& answer, bool is_told) {
  if (is_told || (answer.trouble.empty() && is_forbidden_word(answer.text))) return {};
  const auto why = answer.trouble.empty() ? "it has not answered, or something else" : answer.trouble;
  return "whether it answers " + std::string(word) + " is not known: " + why;
}

void add_gap(server_exposure& seen, std::string gap) {
  if (!gap.empty()) seen.gaps.push_back(std::move(gap));
}

asio::awaitable<void> ask_admin_server_about(endpoint where, deadline limit, server_exposure& seen) {
  const auto settings = co_await ask_admin_server(where, "/commands/configuration", longest_exposure_answer, limit);
  if (!add_admin_server(seen, where.name, settings)) co_return;
  const auto told = co_await ask_admin_server(where, "/commands/system_properties", longest_exposure_answer, limit);
  const auto why = told.trouble.empty() ? add_properties(seen, told.body) : told.trouble;
  if (!why.empty())
    seen.gaps.push_back("what properties the AdminServer at " + where.name + " shows is not known: " + why);
}

}  // namespace

void add_words(server_exposure& seen, const word_answer& conf, const word_answer& mask) {
  const bool has_settings = conf.trouble.empty() && add_conf(seen, conf.text);
  const bool has_mask = mask.trouble.empty() && is_trace_mask(mask.text);
  add_gap(seen, gap_of_word("conf", conf, has_settings));
  const auto gap = gap_of_word("gtmk", mask, has_mask);
  if (has_mask) {
    seen.all_words = true;
  } else if (has_settings && gap.empty()) {
    seen.all_words = false;
  }
  add_gap(seen, gap);
}

bool add_admin_server(server_exposure& seen, const std::string& where, const admin_answer& settings) {
  if (settings.is_refused) return false;
  auto why = settings.trouble;
  if (why.empty() && admin_object(settings.body, "configuration", why)) {
    seen.admin_server = where;
    seen.is_admin_local = settings.is_local;
    return true;
  }
  seen.gaps.push_back("whether an AdminServer answers at " + where + " is not known: " + why);
  return false;
}

asio::awaitable<server_exposure> ask_about_exposure(endpoint server, std::uint16_t admin_port, tls_context_ptr tls,
                                                    deadline limit) {
  server_exposure seen{server.name};
  const auto conf = co_await ask_word_in_time(server, "conf", longest_exposure_answer, tls, limit);
  const auto mask = co_await ask_word_in_time(server, "gtmk", longest_exposure_answer, tls, limit);
  add_words(seen, conf, mask);
  if (admin_port != 0) co_await ask_admin_server_about(admin_endpoint(server, admin_port), limit, seen);
  co_return seen;
}

}  // namespace zkadmin
