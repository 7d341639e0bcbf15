#pragma once

#include <string>

namespace zkadmin {

/// The path of a child.
inline std::string join(const std::string& parent, const std::string& name) {
  return (parent == "/" ? "" : parent) + "/" + name;
}

}  // namespace zkadmin
