#include "session/paths.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "backend/request.hpp"
#include "format/shown_text.hpp"

namespace zkrecipes::detail {

namespace {

constexpr const char* refused_character =
    "it must be UTF-8 without characters that ZooKeeper allows in no path (U+0080 to U+009F, U+E000 to U+F8FF, "
    "U+FFF0 and above)";

/// Not what is above U+FFFF, where ZooKeeper sees surrogates, nor U+FFFD, which a malformed byte gives.
bool is_allowed(char32_t character) {
  return (character > 0x9f && character < 0xd800) || (character > 0xf8ff && character < 0xfff0);
}

/// U+0080 to U+009F. A text that is no UTF-8 has none; an id may be one.
bool has_late_control(std::string_view text) {
  for (auto at = text.find('\xc2'); at != text.npos; at = text.find('\xc2', at + 1)) {
    const unsigned char next = at + 1 < text.size() ? text[at + 1] : '\0';
    if (next >= 0x80 && next <= 0x9f) return true;
  }
  return false;
}

std::string part_problem(std::string_view part) {
  if (part.empty() || part.size() > 256) return "it must have 1 to 256 bytes";
  if (has_control(part)) return "it must not contain control characters";
  if (part.find('/') != part.npos) return "it must not contain '/'";
  return is_refused_in_paths(part) ? refused_character : std::string();
}

void require_good(std::string_view what, std::string_view text, std::string_view problem) {
  if (!problem.empty()) reject(what, text.substr(0, 32), problem);
}

}  // namespace

bool is_refused_in_paths(std::string_view text) {
  if (has_control(text)) return true;
  for (;;) {
    const auto other = std::ranges::find_if(text, [](unsigned char each) { return each > 0x7f; });
    text.remove_prefix(static_cast<std::size_t>(other - text.begin()));
    if (text.empty()) return false;
    if (!is_allowed(take_character(text))) return true;
  }
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

bool has_nul(std::string_view text) { return text.find('\0') != text.npos; }

bool has_nul(const acl& access) {
  return std::any_of(access.begin(), access.end(),
                     [](const acl_entry& each) { return has_nul(each.scheme) || has_nul(each.id); });
}

void reject(std::string_view what, std::string_view value, std::string_view problem) {
  throw std::invalid_argument(std::string(what) + " \"" + shown_text(value) + "\": " + std::string(problem));
}

std::string path_problem(std::string_view path) {
  if (path.empty() || path.front() != '/') return "a path must begin with '/'";
  if (path == "/") return {};
  if (path.back() == '/') return "a path must not end with '/'";
  if (has_control(path)) return "a path must not contain control characters";
  if (is_refused_in_paths(path)) return refused_character;
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
  if (has_control(id) || has_late_control(id)) reject(what, id.substr(0, 32), "it must not contain control characters");
}

std::string name_problem(std::string_view name) {
  return name == "." || name == ".." ? "it must not be '.' or '..'" : part_problem(name);
}

void require_name(std::string_view what, std::string_view name) { require_good(what, name, name_problem(name)); }

void require_part_of_name(std::string_view what, std::string_view part) {
  require_good(what, part, part_problem(part));
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

using backend::opcode;

root_path::root_path(std::string path, const acl& standard)
    : path_(std::move(path)), standard_(standard.empty() ? open_acl() : standard) {}

std::string root_path::full(std::string path) const {
  if (path_.empty()) return path;
  return path == "/" ? path_ : path_ + path;
}

std::string root_path::below(std::string path) const {
  if (path_.empty() || path.compare(0, path_.size(), path_) != 0) return path;
  return path.size() == path_.size() ? "/" : path.substr(path_.size());
}

void root_path::apply(backend::request& what) const {
  if (what.op == opcode::create && what.access.empty()) what.access = standard_;
  for (auto& each : what.operations) {
    if (each.acl.empty()) each.acl = standard_;
    each.path = full(std::move(each.path));
  }
  const bool has_no_path = what.op == opcode::multi || what.op == opcode::sync || what.op == opcode::authenticate;
  if (!has_no_path) what.path = full(std::move(what.path));
}

void root_path::strip(backend::reply& answer) const {
  answer.path = below(std::move(answer.path));
  for (auto& each : answer.results) each.path = below(std::move(each.path));
}

}  // namespace zkrecipes::detail
