#include "pseudo_terminal.hpp"

#include <algorithm>
#include <stdexcept>

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto long_enough = 30s;

}  // namespace

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (auto& each : texts) list.push_back(each.data());
  list.push_back(nullptr);
  return list;
}

pseudo_terminal::pseudo_terminal(asio::io_context& io, int width, int height)
    : io_(io), user_side_(io), process_(io), screen_(width, height) {
  int user = -1;
  winsize size{};
  size.ws_col = static_cast<unsigned short>(width);
  size.ws_row = static_cast<unsigned short>(height);
  if (::openpty(&user, &terminal_side_, nullptr, nullptr, &size) != 0) throw std::runtime_error("no pseudo-terminal");
  for (const int each : {user, terminal_side_}) ::fcntl(each, F_SETFD, FD_CLOEXEC);
  user_side_.assign(user);
  read_on();
}

pseudo_terminal::~pseudo_terminal() {
  if (terminal_side_ >= 0) ::close(terminal_side_);
  if (pid_ == 0 || ended_) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void pseudo_terminal::read_on() {
  const auto read = [this, alive = std::weak_ptr(alive_)](boost::system::error_code error, std::size_t size) {
    if (error || alive.expired()) return;
    screen_.feed({buffer_.data(), size});
    read_on();
  };
  user_side_.async_read_some(asio::buffer(buffer_), read);
}

pid_t pseudo_terminal::fork_onto_terminal() {
  pid_ = ::fork();
  if (pid_ != 0) {
    process_.assign(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    const auto end = [this, alive = std::weak_ptr(alive_)](boost::system::error_code error) {
      int status = 0;
      if (error || alive.expired() || ::waitpid(pid_, &status, 0) != pid_) return;
      ended_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    };
    process_.async_wait(asio::posix::stream_descriptor::wait_read, end);
    return pid_;
  }
  ::login_tty(::dup(terminal_side_));
  return 0;
}

void pseudo_terminal::start(const std::vector<std::string>& command, variables environment) {
  environment.try_emplace("TERM", "xterm-256color");
  environment.try_emplace("LC_ALL", "C.UTF-8");
  std::vector<std::string> words = command;
  std::vector<std::string> settings;
  for (const auto& [name, value] : environment) settings.push_back(name + "=" + value);
  const auto arguments = pointers(words);
  const auto texts = pointers(settings);
  if (fork_onto_terminal() != 0) return;
  ::execve(arguments[0], arguments.data(), texts.data());
  ::_exit(127);
}

void pseudo_terminal::start(const std::function<int()>& body) {
  if (fork_onto_terminal() != 0) return;
  ::setenv("TERM", "xterm", 1);
  ::_exit(body());
}

void pseudo_terminal::type(const std::string& keys) { asio::write(user_side_, asio::buffer(keys)); }

void pseudo_terminal::resize(int width, int height) {
  winsize size{};
  size.ws_col = static_cast<unsigned short>(width);
  size.ws_row = static_cast<unsigned short>(height);
  screen_.resize(width, height);
  ::ioctl(terminal_side_, TIOCSWINSZ, &size);
}

void pseudo_terminal::send_signal(int number) const { ::kill(pid_, number); }

void pseudo_terminal::hang_up() {
  ::close(terminal_side_);
  terminal_side_ = -1;
  user_side_.close();
}

bool pseudo_terminal::wait_until(const std::function<bool()>& condition) {
  const auto limit = std::chrono::steady_clock::now() + long_enough;
  const auto work = asio::make_work_guard(io_);
  // Returns the last result of the condition. It must not be evaluated again, because one more step can change the
  // screen.
  bool holds = condition();
  while (!holds && std::chrono::steady_clock::now() < limit) {
    io_.run_one_for(20ms);  // The condition may depend on time alone.
    holds = condition();
  }
  return holds;
}

bool pseudo_terminal::shows(const std::string& text) {
  const bool found = wait_until([&] { return screen_.text().find(text) != std::string::npos; });
  if (!found) BOOST_TEST_MESSAGE("no \"" << text << "\" on the screen:\n" << screen_.text());
  return found;
}

bool pseudo_terminal::shows_no_more(const std::string& text) {
  return wait_until([&] { return screen_.text().find(text) == std::string::npos; });
}

int pseudo_terminal::exit_code() {
  return wait_until([this] { return ended_.has_value(); }) ? *ended_ : -1;
}

termios pseudo_terminal::modes() const {
  termios present{};
  if (::tcgetattr(terminal_side_, &present) != 0) throw std::runtime_error("no terminal modes");
  return present;
}

bool pseudo_terminal::is_non_blocking() const { return (::fcntl(terminal_side_, F_GETFL) & O_NONBLOCK) != 0; }

bool same_modes(const termios& a, const termios& b) {
  return a.c_iflag == b.c_iflag && a.c_oflag == b.c_oflag && a.c_cflag == b.c_cflag && a.c_lflag == b.c_lflag &&
         std::equal(std::begin(a.c_cc), std::end(a.c_cc), std::begin(b.c_cc));
}
