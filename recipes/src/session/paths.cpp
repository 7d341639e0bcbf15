#include "session/paths.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace zkrecipes::detail {

namespace {

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

[[noreturn]] void refuse(std::string_view what, std::string_view value, std::string_view problem) {
  throw std::invalid_argument(std::string(what) + " \"" + std::string(value) + "\": " + std::string(problem));
}

std::uint16_t parse_port(std::string_view host, std::string_view digits) {
  unsigned value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value == 0 || value > 65535) {
    refuse("hosts", host, "the port must be a number from 1 to 65535");
  }
  return static_cast<std::uint16_t>(value);
}

backend::endpoint parse_endpoint(std::string_view text) {
  if (text.empty()) refuse("hosts", text, "a host is missing; write host:port[,host:port...][/root]");
  if (has_control(text) || text.find(' ') != text.npos)
    refuse("hosts", text, "spaces and control characters are not allowed");
  if (text.front() == '[') {
    auto close = text.find(']');
    if (close == text.npos) refuse("hosts", text, "']' is missing behind the IPv6 address");
    auto rest = text.substr(close + 1);
    if (!rest.empty() && rest.front() != ':') refuse("hosts", text, "only ':port' may follow ']'");
    auto address = text.substr(1, close - 1);
    if (address.find(':') == address.npos)
      refuse("hosts", text, "only an IPv6 address stands in brackets, as in [::1]:2181");
    return {std::string(address), rest.empty() ? std::uint16_t{2181} : parse_port(text, rest.substr(1))};
  }
  auto colon = text.find(':');
  if (colon == text.npos) return {std::string(text), 2181};
  if (text.find(':', colon + 1) != text.npos)
    refuse("hosts", text, "put an IPv6 address in brackets, as in [::1]:2181");
  if (colon == 0) refuse("hosts", text, "the host before ':' is missing");
  return {std::string(text.substr(0, colon)), parse_port(text, text.substr(colon + 1))};
}

}  // namespace

std::string path_problem(std::string_view path) {
  if (path.empty() || path.front() != '/') return "a path must begin with '/'";
  if (path == "/") return {};
  if (path.back() == '/') return "a path must not end with '/'";
  if (has_control(path)) return "a path must not contain control characters";
  for (std::size_t begin = 1; begin <= path.size();) {
    auto end = std::min(path.find('/', begin), path.size());
    auto part = path.substr(begin, end - begin);
    if (part.empty()) return "a path must not contain '//'";
    if (part == "." || part == "..") return "a path must not contain '.' or '..' as a part";
    begin = end + 1;
  }
  return {};
}

void require_path(std::string_view what, std::string_view path) {
  if (auto problem = path_problem(path); !problem.empty()) refuse(what, path, problem);
}

void require_id(std::string_view what, std::string_view id) {
  if (id.empty() || id.size() > 256) refuse(what, id.substr(0, 32), "it must have 1 to 256 bytes");
  if (has_control(id)) refuse(what, "...", "it must not contain control characters");
}

const std::string& no_path() noexcept {
  static const std::string none;
  return none;
}

std::string join(std::string_view parent, std::string_view name) {
  std::string path(parent == "/" ? "" : parent);
  return path.append("/").append(name);
}

std::string_view parent_of(std::string_view path) {
  auto slash = path.rfind('/');
  return slash == 0 || slash == path.npos ? std::string_view("/") : path.substr(0, slash);
}

std::string_view name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

host_list parse_hosts(std::string_view text) {
  host_list result;
  if (auto slash = text.find('/'); slash != text.npos) {
    result.root = text.substr(slash);
    require_path("root in hosts", result.root);
    if (result.root == "/") result.root.clear();
    text = text.substr(0, slash);
  }
  for (std::size_t begin = 0; begin <= text.size();) {
    auto end = std::min(text.find(',', begin), text.size());
    result.servers.push_back(parse_endpoint(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return result;
}

}  // namespace zkrecipes::detail
