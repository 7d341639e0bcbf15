#pragma once

#include <map>
#include <string>

namespace demo {

/// Where messages are.
enum class source_kind { queue, topic, redis, rabbitmq };

/// As options and lines call them.
inline const std::map<std::string, source_kind>& source_names() {
  static const std::map<std::string, source_kind> all{{"queue", source_kind::queue},
                                                      {"topic", source_kind::topic},
                                                      {"redis", source_kind::redis},
                                                      {"rabbitmq", source_kind::rabbitmq}};
  return all;
}

inline bool has_broker(source_kind which) { return which == source_kind::redis || which == source_kind::rabbitmq; }

inline std::string name_of(source_kind which) {
  for (const auto& [name, each] : source_names()) {
    if (each == which) return name;
  }
  return {};
}

}  // namespace demo
