#pragma once

#include <map>
#include <string>

namespace demo {

/// Where messages are.
enum class source_kind { queue, topic, redis };

/// As options and lines call them.
inline const std::map<std::string, source_kind>& source_names() {
  static const std::map<std::string, source_kind> all{
      {"queue", source_kind::queue}, {"topic", source_kind::topic}, {"redis", source_kind::redis}};
  return all;
}

inline std::string name_of(source_kind which) {
  for (const auto& [name, each] : source_names()) {
    if (each == which) return name;
  }
  return {};
}

}  // namespace demo
