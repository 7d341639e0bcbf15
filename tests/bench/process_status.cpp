#include "process_status.hpp"

#include <fstream>
#include <limits>
#include <stdexcept>

namespace bench {

long status_of(const std::string& field) {
  std::ifstream status("/proc/self/status");
  std::string name;
  long value = 0;
  while (status >> name) {
    if (name == field + ':' && status >> value) return value;
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  throw std::runtime_error("no " + field + " in /proc/self/status");
}

}  // namespace bench
