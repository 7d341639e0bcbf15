#include "settings/values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <ios>
#include <optional>
#include <stdexcept>
#include <utility>

#include <sys/stat.h>

#include "base/failure.hpp"
#include "base/text.hpp"

namespace zkadmin {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_servers = 64;

[[noreturn]] void refuse(std::string_view expected, std::string_view found) {
  throw std::invalid_argument("expected " + std::string(expected) + ", found \"" + printable(found) + "\"");
}

std::optional<double> unit_in_ms(std::string_view unit) {
  if (unit == "ms") return 1;
  if (unit == "s") return 1e3;
  if (unit == "m") return 60e3;
  if (unit == "h") return 3600e3;
  return std::nullopt;
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

std::uint16_t parse_port(std::string_view text, std::string_view server) {
  const auto port = read_number<std::uint16_t>(text).value_or(0);
  if (port == 0) refuse("a port from 1 to 65535 behind the last colon", server);
  return port;
}

endpoint parse_endpoint(std::string_view text) {
  endpoint server;
  std::string_view port;
  if (text.starts_with('[')) {
    const auto bracket = text.find(']');
    if (bracket == std::string_view::npos) refuse("a ] behind an IPv6 address", text);
    server.host = text.substr(1, bracket - 1);
    port = text.substr(bracket + 1);
    if (!port.empty() && port.front() != ':') refuse("host:port", text);
  } else {
    const auto colon = text.rfind(':');
    server.host = text.substr(0, colon);
    if (colon != std::string_view::npos) port = text.substr(colon);
    if (server.host.find(':') != std::string::npos) refuse("an IPv6 address in brackets, [::1]:2181", text);
  }
  if (server.host.empty() || has_control(server.host) || server.host.find(' ') != std::string::npos)
    refuse("host:port", text);
  if (!port.empty()) server.port = parse_port(port.substr(1), text);
  const std::string shown = text.starts_with('[') ? "[" + server.host + "]" : server.host;
  server.name = shown + ":" + std::to_string(server.port);
  return server;
}

std::chrono::milliseconds duration_up_to(double most_ms, std::string_view expected, std::string_view text) {
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto unit = unit_in_ms(text.substr(static_cast<std::size_t>(rest - text.data())));
  if (error != std::errc{} || !unit || !std::isfinite(value)) refuse(expected, text);
  const double ms = value * *unit;
  if (ms < 100 || ms > most_ms) refuse(expected, text);
  return std::chrono::milliseconds(std::llround(ms));
}

}  // namespace

std::chrono::milliseconds parse_duration(std::string_view text) {
  return duration_up_to(3600e3, "a duration from 100ms to 1h, such as 500ms, 2s or 1m", text);
}

std::chrono::milliseconds parse_age(std::string_view text) {
  return duration_up_to(3600e6, "a duration from 100ms to 1000h, such as 30s, 5m or 24h", text);
}

std::int64_t parse_count(std::string_view text) {
  const auto value = read_number<std::int64_t>(text).value_or(-1);
  if (value < 0 || value > 1'000'000'000'000) refuse("a whole number from 0 to 1000000000000", text);
  return value;
}

std::uint16_t parse_admin_port(std::string_view text) {
  const auto port = read_number<std::uint16_t>(text);
  if (!port) refuse("a port from 1 to 65535, or 0 for none", text);
  return *port;
}

endpoint parse_listen(std::string_view text) {
  constexpr std::string_view any = ":0";
  const bool is_any = text.ends_with(any);
  // A port of 0 is no port of a server, so it is replaced for the check of the rest.
  const std::string checked = is_any ? std::string(text.substr(0, text.size() - 1)) + "1" : std::string(text);
  endpoint where = parse_endpoint(checked);
  if (is_any) {
    where.port = 0;
    where.name.back() = '0';
  } else if (!checked.ends_with(":" + std::to_string(where.port))) {
    refuse("an address and a port, such as 127.0.0.1:9141", text);
  }
  return where;
}

bool parse_flag(std::string_view text) {
  if (text == "true" || text == "1" || text == "yes") return true;
  if (text == "false" || text == "0" || text == "no") return false;
  refuse("true or false", text);
}

std::vector<endpoint> parse_hosts(std::string_view text) {
  const std::string_view list = text.substr(0, text.find('/'));
  if (list.find('@') != list.npos)  // the message does not repeat it
    throw std::invalid_argument("expected host:port, found an @; credentials belong into a file (--digest-file)");
  std::vector<endpoint> servers;
  for (std::size_t begin = 0; begin <= list.size();) {
    const auto end = std::min(list.find(',', begin), list.size());
    servers.push_back(parse_endpoint(list.substr(begin, end - begin)));
    begin = end + 1;
  }
  if (servers.size() > max_servers) refuse("at most " + std::to_string(max_servers) + " servers", text);
  if (list.size() != text.size()) parse_path(text.substr(list.size()));
  return servers;
}

std::string parse_path(std::string_view text) {
  constexpr std::string_view expected = "an absolute path such as /billing/consumer";
  std::string_view path = text;
  if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  if (path.empty() || path.front() != '/' || has_control(path)) refuse(expected, text);
  for (std::size_t begin = 1; path.size() > 1 && begin <= path.size();) {
    const auto end = std::min(path.find('/', begin), path.size());
    const auto part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") refuse(expected, text);
    begin = end + 1;
  }
  return std::string(path);
}

std::vector<std::string> parse_paths(std::string_view text) {
  std::vector<std::string> paths;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    paths.push_back(parse_path(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

recipe parse_kind(std::string_view text) {
  const auto kind = recipe_named(text);
  if (!kind) refuse("a kind of recipe: " + recipe_names(), text);
  return *kind;
}

std::vector<declared_recipe> parse_recipes(std::string_view text) {
  const bool is_lines = text.ends_with('\n');
  if (is_lines) text.remove_suffix(1);
  std::vector<declared_recipe> all;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(is_lines ? '\n' : ',', begin), text.size());
    const auto one = text.substr(begin, end - begin);
    const auto colon = one.find(':');
    if (colon == one.npos) refuse("KIND:PATH, such as lock:/billing/lock", one);
    const auto kind = parse_kind(one.substr(0, colon));
    all.push_back({kind, parse_path(one.substr(colon + 1))});
    begin = end + 1;
  }
  return all;
}

std::string parse_path_argument(const std::string& text) try {
  return parse_path(text);
} catch (const std::invalid_argument& error) {
  throw failure(exit_code::usage, std::string("PATH: ") + error.what());
}

recipe parse_kind_argument(const std::string& text) try {
  return parse_kind(text);
} catch (const std::invalid_argument& error) {
  throw failure(exit_code::usage, std::string("--kind: ") + error.what());
}

std::optional<digest_credentials> find_credentials(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  const auto colon = text.find(':');
  const bool is_one_line = text.find_first_of(std::string_view("\r\n\0", 3)) == text.npos;
  if (colon == text.npos || colon + 1 == text.size() || !is_one_line) return std::nullopt;
  return digest_credentials{std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

digest_credentials parse_digest(std::string_view text) {
  auto found = find_credentials(text);
  // The message does not show the text, because it is a secret.
  if (!found || found->user.empty()) throw std::invalid_argument("expected one line user:password");
  return std::move(*found);
}

namespace {

constexpr std::streamsize longest_private_file = 4096;

/// A name with a colon may be the credentials themselves.
std::string shown_file(const std::string& path) {
  return path.find(':') == path.npos ? "the file " + path
                                     : "the file that it names (what has a colon is not shown: it may be credentials, "
                                       "which belong into a file)";
}

}  // namespace

void require_private(const std::string& path, const std::string& what) {
  struct ::stat seen {};
  if (::stat(path.c_str(), &seen) != 0 || !S_ISREG(seen.st_mode)) return;
  if (seen.st_mode & S_IROTH)
    throw std::invalid_argument("everybody may read " + what + " in " + path + "; chmod o-r makes the file private");
  if (seen.st_mode & S_IWOTH)
    throw std::invalid_argument("everybody may change " + what + " in " + path + "; chmod o-w forbids it");
}

std::string read_private_file(const std::string& path, const std::string& form) {
  require_private(path, "the credentials");
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(longest_private_file) + 1, '\0');
  if (!file || (file.read(text.data(), longest_private_file + 1), file.bad()))
    throw std::invalid_argument("cannot read " + shown_file(path));
  if (file.gcount() > longest_private_file)
    throw std::invalid_argument("the file " + path + " is longer than " + std::to_string(longest_private_file) +
                                " bytes; it must contain " + form);
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace zkadmin
