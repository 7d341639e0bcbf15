#include "process_status.hpp"

#include <fstream>
#include <limits>
#include <stdexcept>

#include <unistd.h>

namespace bench {

long status_of(const std::string& field, const std::string& process) {
  std::ifstream status("/proc/" + process + "/status");
  std::string name;
  long value = 0;
  while (status >> name) {
    if (name == field + ':' && status >> value) return value;
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  throw std::runtime_error("no " + field + " in the status of process " + process);
}

double processor_time_of(pid_t process) {
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  stat.ignore(std::numeric_limits<std::streamsize>::max(), ')');  // the name may hold anything
  std::string skipped;
  for (int field = 3; field < 14; ++field) stat >> skipped;
  double user = 0;
  double kernel = 0;
  if (!(stat >> user >> kernel)) throw std::runtime_error("no processor time of process " + std::to_string(process));
  return (user + kernel) * 1000 / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace bench
