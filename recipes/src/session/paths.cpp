#include "session/paths.hpp"

#include <algorithm>
#include <stdexcept>

namespace zkrecipes::detail {

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

bool has_nul(std::string_view text) { return text.find('\0') != text.npos; }

bool has_nul(const acl& access) {
  return std::any_of(access.begin(), access.end(),
                     [](const acl_entry& each) { return has_nul(each.scheme) || has_nul(each.id); });
}

void reject(std::string_view what, std::string_view value, std::string_view problem) {
  throw std::invalid_argument(std::string(what) + " \"" + std::string(value) + "\": " + std::string(problem));
}

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
  if (auto problem = path_problem(path); !problem.empty()) reject(what, path, problem);
}

void require_id(std::string_view what, std::string_view id) {
  if (id.empty() || id.size() > 256) reject(what, id.substr(0, 32), "it must have 1 to 256 bytes");
  if (has_control(id)) reject(what, "...", "it must not contain control characters");
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

}  // namespace zkrecipes::detail
