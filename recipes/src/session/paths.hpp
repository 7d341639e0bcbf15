// Paths of nodes: checked here, so that the C client never sees a bad one.
#pragma once

#include <string>
#include <string_view>

#include <zkrecipes/node.hpp>

namespace zkrecipes::detail {

/// True if the text has control characters.
bool has_control(std::string_view text);
/// Whether there is a NUL byte, at which the C client would cut the text off.
bool has_nul(std::string_view text);
bool has_nul(const acl& access);

/// \throws std::invalid_argument: `what "value": problem`.
[[noreturn]] void reject(std::string_view what, std::string_view value, std::string_view problem);

/// Describes what is wrong with the path. Empty if it is a good one: absolute, without empty, "." or ".." parts,
/// control characters or a trailing slash.
std::string path_problem(std::string_view path);

/// \throws std::invalid_argument with `what` and the problem.
void require_path(std::string_view what, std::string_view path);

/// \throws std::invalid_argument unless it has 1 to 256 bytes without control characters.
void require_id(std::string_view what, std::string_view id);

/// The empty path, for an object that was made by default or moved from.
const std::string& no_path() noexcept;

std::string join(std::string_view parent, std::string_view name);
std::string_view parent_of(std::string_view path);
std::string_view name_of(std::string_view path);

}  // namespace zkrecipes::detail
