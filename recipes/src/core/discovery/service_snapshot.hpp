// Turns the nodes of a service into instances.
#pragma once

#include <zkrecipes/service_discovery.hpp>

namespace zkrecipes::detail {

/// Pure. A node that is no instance is reported as `broken`, and the others are seen all the same.
service_snapshot interpret(const children_snapshot& nodes);
service_change interpret(const children_snapshot& before, const children_snapshot& now);

/// Whether the text can be a node's name.
bool is_name(const std::string& text);

}  // namespace zkrecipes::detail
