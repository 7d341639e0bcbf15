#pragma once

#include <algorithm>
#include <string>

namespace zkadmin {

/// The path of a child.
inline std::string join(const std::string& parent, const std::string& name) {
  return (parent == "/" ? "" : parent) + "/" + name;
}

/// The path of the parent.
inline std::string parent_of(const std::string& path) {
  return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
}

/// The last part of a path.
inline std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace zkadmin
