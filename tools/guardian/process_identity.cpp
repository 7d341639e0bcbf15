#include "process_identity.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "descriptor.hpp"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

namespace guardian {

namespace {

bool is_shortage(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM; }

/// Kernels before 6.5 do not tell whether the peer itself is still there.
void find_start(int socket, peer& of) {
  int number = -1;
  socklen_t size = sizeof number;
  const bool is_told = ::getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &number, &size) == 0;
  const int error = is_told ? 0 : errno;
  if (is_shortage(error)) of.trouble = error;
  if (!is_told && error != ENOPROTOOPT) return;
  const descriptor itself(is_told ? number : -1);
  errno = 0;
  const auto started = start_of(of.pid);
  if (!started && is_shortage(errno)) of.trouble = errno;
  if (!itself || !has_ended(itself.get())) of.started = started.value_or(0);
}

}  // namespace

std::optional<peer> peer_of(int socket) {
  ucred told{};
  socklen_t size = sizeof told;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &told, &size) != 0 || size != sizeof told) return std::nullopt;
  peer found{told.pid, 0, told.uid, told.gid};
  find_start(socket, found);
  return found;
}

namespace {

struct descriptor_facts {
  std::optional<pid_t> pid;  // -1: the process was waited for; 0: it is in another pid namespace
  bool is_of_thread = false;
};

/// Descriptors of other kinds can show lines of their owner's choice.
bool is_pidfd(int descriptor) {
  std::error_code error;
  const auto kind = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), error).string();
  return !error && (kind == "anon_inode:[pidfd]" || kind.starts_with("pidfd:"));
}

template <class Number>
std::optional<Number> number_in(std::string_view text, int base) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  Number number{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

descriptor_facts facts_of(int pidfd) {
  descriptor_facts facts;
  if (!is_pidfd(pidfd)) return facts;
  std::ifstream info("/proc/self/fdinfo/" + std::to_string(pidfd));
  if (!info) throw std::system_error(errno, std::generic_category(), "/proc/self/fdinfo");
  for (std::string line; std::getline(info, line);) {
    const auto text = std::string_view(line);
    if (text.starts_with("Pid:")) facts.pid = number_in<pid_t>(text.substr(4), 10);
    if (text.starts_with("flags:")) facts.is_of_thread = number_in<unsigned>(text.substr(6), 8).value_or(0) & O_EXCL;
  }
  return facts;
}

/// Real, effective, saved and file system user.
using user_ids = std::array<uid_t, 4>;

std::optional<user_ids> users_of(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("Uid:")) continue;
    std::istringstream numbers(line.substr(4));
    user_ids ids{};
    for (auto& each : ids) numbers >> each;
    return numbers ? std::optional(ids) : std::nullopt;
  }
  return std::nullopt;
}

std::string name_of(pid_t pid) {
  std::ifstream comm("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(comm, name);
  return name;
}

}  // namespace

/// The 22nd field of the status line. The name in the second one may contain anything. A process can end between the
/// opening of the file and the reading, which fails then: `getline` throws nothing.
std::optional<std::uint64_t> start_of(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(stat, line, '\0');
  const auto end_of_name = line.rfind(')');
  if (end_of_name == line.npos) return std::nullopt;
  std::istringstream fields(line.substr(end_of_name + 1));
  std::string skipped;
  for (int i = 3; i < 22; ++i) fields >> skipped;
  std::uint64_t started = 0;
  fields >> started;
  return fields ? std::optional(started) : std::nullopt;
}

bool has_ended(int pidfd) {
  pollfd look{pidfd, POLLIN, 0};
  return ::poll(&look, 1, 0) == 1 && (look.revents & (POLLIN | POLLHUP));
}

identified_process identify_process(int pidfd, uid_t user) {
  const auto facts = facts_of(pidfd);
  if (!facts.pid) return {{}, {}, "the descriptor is no pidfd"};
  if (facts.is_of_thread) return {{}, {}, "the pidfd is that of a single thread"};
  const auto pid = *facts.pid;
  if (pid <= 0) {
    if (has_ended(pidfd)) return {};
    return {{}, {}, "the process is not in a pid namespace that is seen from here"};
  }
  identified_process found;
  found.name = name_of(pid);
  const auto users = users_of(pid);
  const auto started = start_of(pid);
  // As long as the process is there its number is not used again: what was read is about this one.
  if (has_ended(pidfd)) return {};
  if (!users || !started) return {{}, {}, "/proc does not show the process"};
  if ((*users)[1] != user) return {{}, {}, "the process is another user's"};
  found.who = process_identity{pid, *started};
  return found;
}

std::string kill_process(int pidfd, pid_t pid, uid_t user) {
  const auto users = users_of(pid);
  if (has_ended(pidfd)) return "it has ended";
  if (!users) return "/proc does not show the process";
  for (const auto each : *users) {
    if (each != user) return "the process has become another user's";
  }
  if (::syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0) != 0) return std::strerror(errno);
  return {};
}

}  // namespace guardian
