// The guardian beside the consumers.
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "process.hpp"
#include "roles.hpp"

namespace demo {

/// Its log is dropped, because the terminal shows the dashboard.
int guard(const std::string& socket) {
  const auto program = beside("zkrecipes-guardian");
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
  ::execl(program.c_str(), program.c_str(), "--socket", socket.c_str(), "--mode", "0600", nullptr);
  throw std::system_error(errno, std::generic_category(), program);
}

}  // namespace demo
