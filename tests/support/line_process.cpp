#include "support/line_process.hpp"

#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zkrecipes::test {

namespace {

/// A pair of sockets; other child processes inherit neither of them.
std::pair<int, int> make_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  return {ends[0], ends[1]};
}

}  // namespace

line_process::line_process(std::string name, const std::vector<std::string>& command) : name_(std::move(name)) {
  const auto [ours, theirs] = make_pair();
  socket_ = ours;
  std::vector<char*> words;
  for (const auto& each : command) words.push_back(const_cast<char*>(each.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, theirs, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, theirs, STDOUT_FILENO);
  const int failure = ::posix_spawn(&pid_, words.front(), &files, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::close(theirs);
  if (failure) throw std::system_error(failure, std::generic_category(), command.front());
}

line_process::~line_process() {
  ::kill(pid_, SIGKILL);
  ::close(socket_);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void line_process::tell(const std::string& command) {
  const std::string line = command + '\n';
  // A line is far shorter than a socket's buffer, so it is sent as a whole. A socket, unlike a pipe, can report the end
  // of the process without a signal.
  if (::send(socket_, line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size())) {
    throw std::system_error(errno, std::generic_category(), name_);
  }
}

std::optional<std::string> line_process::answer() {
  auto end = received_.find('\n');
  if (end == received_.npos) {
    char buffer[4096];
    const auto count = ::recv(socket_, buffer, sizeof buffer, MSG_DONTWAIT);
    if (count == 0) throw std::runtime_error(name_ + " has ended");
    if (count > 0) received_.append(buffer, static_cast<std::size_t>(count));
    end = received_.find('\n');
  }
  if (end == received_.npos) return std::nullopt;
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  return line;
}

}  // namespace zkrecipes::test
