#include "ending_process.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/write.hpp>

#include "descriptor.hpp"
#include "ending_order.hpp"
#include "secrets.hpp"

namespace guardian {

using boost::system::error_code;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// This much is given beyond the deadline of an order, and to a process that leaves.
constexpr seconds patience{5};
constexpr std::size_t size_of_read = 4096;

[[noreturn]] void throw_error(int number, const char* what) {
  throw std::system_error(number, std::generic_category(), what);
}

/// The process inherits its socket, as its standard input, and no other descriptor of ours.
pid_t spawn(const std::string& program, int its_socket) {
  std::string name = "zkrecipes-guardian", task = "--end-sessions";
  char* words[] = {name.data(), task.data(), nullptr};
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, its_socket, STDIN_FILENO);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  pid_t pid = -1;
  const int failure = ::posix_spawn(&pid, program.c_str(), &files, nullptr, words, environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (failure) throw_error(failure, "an ending process can not be started");
  return pid;
}

}  // namespace

std::shared_ptr<ending_process> ending_process::start(const boost::asio::any_io_executor& executor,
                                                      const std::string& program) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw_error(errno, "socketpair");
  descriptor ours(ends[0]), theirs(ends[1]);
  const auto pid = spawn(program, theirs.get());
  descriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));  // glibc declares it for C only
  if (!pidfd) {
    const auto reason = errno;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    throw_error(reason, "pidfd_open");
  }
  const std::shared_ptr<ending_process> made(new ending_process(executor, ours.release(), pid, pidfd.release()));
  made->read();
  return made;
}

ending_process::ending_process(const boost::asio::any_io_executor& executor, int its_socket, pid_t pid, int pidfd)
    : socket_(executor, boost::asio::local::stream_protocol(), its_socket),
      pid_(pid),
      pidfd_(executor, pidfd),
      timer_(executor),
      part_(size_of_read, '\0') {}

ending_process::~ending_process() {
  for (auto& each : orders_) wipe(each);
  if (is_reaped_) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void ending_process::order(session_of_the_dead what, time_point deadline, handler done) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - zkrecipes::lease_clock::now());
  ending_order order{++last_number_, std::move(what), std::max(left, milliseconds(0))};
  pending_.emplace(order.number, pending_order{deadline + patience, std::move(done)});
  orders_.push_back(to_lines(order));
  wipe(order.what.session);
  if (orders_.size() == 1) write();
  watch_time();
}

void ending_process::write() {
  const auto all = boost::asio::buffer(orders_.front());
  boost::asio::async_write(socket_, all, [self = shared_from_this()](const error_code& error, std::size_t) {
    wipe(self->orders_.front());
    self->orders_.pop_front();
    if (!error && !self->orders_.empty()) self->write();  // an error is noticed by the reader
  });
}

void ending_process::read() {
  const auto part = boost::asio::buffer(part_);
  socket_.async_read_some(part, [self = shared_from_this()](const error_code& error, std::size_t size) {
    if (self->is_over()) return;
    if (error) return self->fail("the ending process has ended");
    self->answers_.add(std::string_view(self->part_).substr(0, size));
    self->take_lines();
    if (!self->is_over()) self->read();
  });
}

void ending_process::take_lines() {
  while (!is_over()) {
    const auto line = answers_.next();
    if (!line) break;
    const auto answer = parse_ending_answer(*line);
    const auto which = answer ? pending_.find(answer->number) : pending_.end();
    if (which == pending_.end()) return fail("the ending process has answered what was not asked");
    const auto done = std::move(which->second.done);
    pending_.erase(which);
    watch_time();
    done(answer->result);
  }
  if (!is_over() && answers_.is_too_long()) fail("an answer of the ending process is too long");
}

/// The process itself keeps the deadlines. One that does not is stuck.
void ending_process::watch_time() {
  timer_.cancel();
  if (pending_.empty()) return;
  const auto first =
      std::ranges::min_element(pending_, {}, [](const auto& each) { return each.second.latest; })->second.latest;
  timer_.expires_after(std::chrono::ceil<milliseconds>(first - zkrecipes::lease_clock::now()));
  timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error && !self->is_over()) self->fail("the ending process has not answered in time");
  });
}

void ending_process::fail(const std::string& why) {
  ::kill(pid_, SIGKILL);
  error_code ignored;
  socket_.close(ignored);
  timer_.cancel();
  wait_for_end();
  for (const auto& [number, each] : std::exchange(pending_, {})) each.done({why, 0, 0, false});
}

void ending_process::leave() {
  error_code ignored;
  socket_.close(ignored);
  timer_.expires_after(patience);
  timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error && !self->is_reaped_) ::kill(self->pid_, SIGKILL);
  });
  wait_for_end();
}

void ending_process::wait_for_end() {
  const auto wait_read = boost::asio::posix::stream_descriptor::wait_read;
  pidfd_.async_wait(wait_read, [self = shared_from_this()](const error_code&) {
    self->timer_.cancel();
    self->is_reaped_ = ::waitpid(self->pid_, nullptr, WNOHANG) == self->pid_;
  });
}

}  // namespace guardian
