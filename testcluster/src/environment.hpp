#pragma once

#include <string>

namespace testcluster::detail {

/// A variable of this process's environment, or `otherwise` if it is empty or not set.
std::string environment(const char* name, const char* otherwise);

}  // namespace testcluster::detail
