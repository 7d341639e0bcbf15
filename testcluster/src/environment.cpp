#include "environment.hpp"

#include <cstdlib>

namespace testcluster::detail {

std::string environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

}  // namespace testcluster::detail
