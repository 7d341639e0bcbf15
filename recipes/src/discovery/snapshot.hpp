// What the nodes of a service mean.
#pragma once

#include <zkrecipes/service_discovery.hpp>

namespace zkrecipes::detail {

/// Pure. A node that is no instance is told, and hides nobody.
service_snapshot interpret(const children_snapshot& nodes);
service_change interpret(const children_snapshot& before, const children_snapshot& now);

/// Whether it can be a node's name.
bool is_name(const std::string& text);

}  // namespace zkrecipes::detail
