#include "log_output.hpp"

#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace guardian {

log_output::log_output(int descriptor) : to_(descriptor) {
  struct stat kind {};
  if (::fstat(descriptor, &kind) != 0) return;
  is_socket_ = S_ISSOCK(kind.st_mode);
  if (!S_ISFIFO(kind.st_mode) && !S_ISCHR(kind.st_mode)) return;  // to write to a file does not wait for anybody
  const auto path = "/proc/self/fd/" + std::to_string(descriptor);
  own_ = guardian::descriptor(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (own_) to_ = own_.get();
}

void log_output::write(std::string_view line) {
  if (!rest_.empty()) put(std::string(rest_));
  if (rest_.empty() && dropped_ > 0 && put("log_dropped lines=" + std::to_string(dropped_) + '\n')) dropped_ = 0;
  const bool is_put = rest_.empty() && dropped_ == 0 && put(std::string(line) + '\n');
  if (!is_put) ++dropped_;
}

/// False: none of it was written. The rest of a part that was is kept for the next time.
bool log_output::put(std::string_view text) {
  const auto written = write_some(text);
  if (written <= 0) return false;
  rest_ = text.substr(static_cast<std::size_t>(written));
  return true;
}

long log_output::write_some(std::string_view text) const {
  if (is_socket_) return ::send(to_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  // A descriptor that could not be opened anew: a pipe that has room takes a line at once.
  pollfd room{to_, POLLOUT, 0};
  if (!own_ && (::poll(&room, 1, 0) != 1 || !(room.revents & POLLOUT))) return -1;
  return ::write(to_, text.data(), text.size());
}

}  // namespace guardian
