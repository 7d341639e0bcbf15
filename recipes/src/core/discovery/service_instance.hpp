// Turns the nodes of a service into instances.
#pragma once

#include <optional>
#include <string>

#include <zkrecipes/service_discovery.hpp>

namespace zkrecipes::detail {

// The mark by which an operator drains an instance that another process has registered: `enabled` is false, and
// `ownerEnabled` holds what the owner says. All clients heed `enabled`. The owner keeps the mark when it writes its
// description or registers anew.

/// Whether an operator has drained the instance with this description.
bool is_drained(const std::string& description);

/// The same description with the mark, or without it; all other fields stay. Nothing if it is no instance.
std::optional<std::string> with_drain_mark(const std::string& description);
std::optional<std::string> without_drain_mark(const std::string& description);

/// The owner's description, with the mark if the one that stands there has it.
std::string keep_drain_mark(const std::string& there, std::string wanted);

/// Pure. A node that is no instance is reported as `broken`, and the others are seen all the same.
service_snapshot interpret(const children_snapshot& nodes);
service_change interpret(const children_snapshot& before, const children_snapshot& now);

/// Whether the text can be a node's name.
bool is_name(const std::string& text);

/// Why an instance can not be registered: a `bad_arguments` that names the field. `text`: what `to_json` says of it.
error_code problem_with(const service_instance& instance, const std::optional<std::string>& text);

}  // namespace zkrecipes::detail
