// Turns the nodes of a service into instances.
#pragma once

#include <optional>
#include <string>

#include <zkrecipes/service_discovery.hpp>

namespace zkrecipes::detail {

/// Pure. A node that is no instance is reported as `broken`, and the others are seen all the same.
service_snapshot interpret(const children_snapshot& nodes);
service_change interpret(const children_snapshot& before, const children_snapshot& now);

/// Whether the text can be a node's name.
bool is_name(const std::string& text);

/// Why an instance can not be registered: a `bad_arguments` that names the field. `text`: what `to_json` says of it.
error_code problem_with(const service_instance& instance, const std::optional<std::string>& text);

}  // namespace zkrecipes::detail
