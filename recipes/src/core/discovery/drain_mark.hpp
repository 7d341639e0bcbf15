// The mark by which an operator drains an instance that another process has registered: `enabled` is false, and
// `ownerEnabled` holds what the owner says. All clients heed `enabled`. The owner keeps the mark when it writes its
// description or registers anew.
#pragma once

#include <optional>
#include <string>

namespace zkrecipes::detail {

/// Whether an operator has drained the instance with this description.
bool is_drained(const std::string& description);

/// The same description with the mark, or without it; all other fields stay. Nothing if it is no instance.
std::optional<std::string> with_drain_mark(const std::string& description);
std::optional<std::string> without_drain_mark(const std::string& description);

/// The owner's description, with the mark if the one that stands there has it.
std::string keep_drain_mark(const std::string& there, std::string wanted);

}  // namespace zkrecipes::detail
