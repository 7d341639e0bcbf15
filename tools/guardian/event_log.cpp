#include "event_log.hpp"

#include <algorithm>
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

namespace {

constexpr std::size_t longest_value = 200;

std::string line_of(std::string_view event, std::initializer_list<event_log::field> fields) {
  std::string line(event);
  for (const auto& each : fields) line.append(" ").append(each.name).append("=").append(printable(each.value));
  return line;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown(text.substr(0, longest_value));
  std::ranges::replace_if(
      shown, [](char each) { return each < 0x20 || each > 0x7e || each == '"'; }, '?');
  const bool needs_marks = shown.empty() || shown.find_first_of(" =") != shown.npos;
  return needs_marks ? '"' + shown + '"' : shown;
}

void event_log::write(std::string_view event, std::initializer_list<field> fields) { to_(line_of(event, fields)); }

void event_log::write_for(uid_t user, std::string_view event, std::initializer_list<field> fields) {
  auto& of = users_[user];
  if (!take(of)) return;
  auto line = line_of(event, fields) + " uid=" + std::to_string(user);
  if (of.omitted > 0) line += " omitted=" + std::to_string(std::exchange(of.omitted, 0));
  to_(line);
}

bool event_log::take(allowance& of) {
  const auto now = clock::now();
  const auto passed = std::chrono::duration<double>(now - std::exchange(of.since, now)).count();
  of.left = std::min(burst, of.left + passed * rate);
  if (of.left < 1) {
    ++of.omitted;
    return false;
  }
  of.left -= 1;
  return true;
}

}  // namespace guardian
