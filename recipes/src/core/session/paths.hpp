// Paths of nodes: checked here, so that the C client never sees a bad one.
#pragma once

#include <string>
#include <string_view>

#include <zkrecipes/node.hpp>

namespace zkrecipes::backend {
struct reply;
struct request;
}  // namespace zkrecipes::backend

namespace zkrecipes::detail {

/// True if the text has control characters.
bool has_control(std::string_view text);
/// Whether a server refuses the text in the path of a node to be made: it is not UTF-8, or has a character that
/// ZooKeeper allows in no path (PathUtils.java): a control character, those of U+0080 to U+009F included, and all from
/// U+D800 to U+F8FF (private use), from U+FFF0 to U+FFFF, and above.
bool is_refused_in_paths(std::string_view text);
/// Whether there is a NUL byte, at which the C client would cut the text off.
bool has_nul(std::string_view text);
bool has_nul(const acl& access);

/// \throws std::invalid_argument: `what "value": problem`.
[[noreturn]] void reject(std::string_view what, std::string_view value, std::string_view problem);

/// Describes what is wrong with the path. Empty if it is a good one: absolute, without empty, "." or ".." parts,
/// control characters, others that ZooKeeper refuses, or a trailing slash.
std::string path_problem(std::string_view path);

/// \throws std::invalid_argument with `what` and the problem.
void require_path(std::string_view what, std::string_view path);

/// \throws std::invalid_argument unless it has 1 to 256 bytes without control characters.
void require_id(std::string_view what, std::string_view id);

/// Describes why this can not be the name of a node. Empty: it can, and has at most 256 bytes.
std::string name_problem(std::string_view name);
/// For what is the name of a node. \throws std::invalid_argument with `what` and the problem.
void require_name(std::string_view what, std::string_view name);
/// The same for what is a part of one, which can be "." or "..", too.
void require_part_of_name(std::string_view what, std::string_view part);

/// The empty path, for an object that was made by default or moved from.
const std::string& no_path() noexcept;

std::string join(std::string_view parent, std::string_view name);
std::string_view parent_of(std::string_view path);
std::string_view name_of(std::string_view path);

/// The root of a session: it is put in front of each path that is sent, and taken from those that come back.
class root_path {
 public:
  /// `path`: empty, or "/a/b". `standard`: the rights of nodes for which the request names none; empty: everybody.
  root_path(std::string path, const acl& standard);

  const std::string& text() const noexcept { return path_; }
  bool empty() const noexcept { return path_.empty(); }
  std::string full(std::string path) const;
  std::string below(std::string path) const;
  void apply(backend::request& what) const;
  void strip(backend::reply& answer) const;

 private:
  std::string path_;
  acl standard_;
};

}  // namespace zkrecipes::detail
