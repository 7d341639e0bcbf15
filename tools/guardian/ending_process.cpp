#include "ending_process.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include "descriptor.hpp"
#include "ending_order.hpp"
#include "secrets.hpp"

namespace guardian {

namespace {

/// For all users. Each process of this many takes some memory.
constexpr std::size_t most_processes = 64;
constexpr std::chrono::milliseconds pause_between_starts{100};

/// The processes, and the orders that wait for one: because there are too many, or because none could be started. It
/// lives as long as an order is pending, also after the guardian has gone: a process is not killed for that.
class process_ender : public std::enable_shared_from_this<process_ender> {
 public:
  using time_point = ending_process::time_point;
  using handler = ending_process::handler;

  process_ender(boost::asio::any_io_executor executor, std::string program)
      : executor_(std::move(executor)), program_(std::move(program)), timer_(executor_) {}

  void end(session_of_the_dead what, time_point deadline, handler done) {
    waiting_.push_back({std::move(what), deadline, std::move(done)});
    boost::asio::post(executor_, [self = shared_from_this()] { self->go_on(); });
  }

 private:
  struct order {
    session_of_the_dead what;
    time_point deadline;
    handler done;
  };

  using processes = std::map<uid_t, std::shared_ptr<ending_process>>;

  /// Gives the orders that wait to processes, and drops those that have waited for too long.
  void go_on() {
    const auto now = zkrecipes::lease_clock::now();
    std::set<uid_t> dropped;
    for (auto& each : std::exchange(waiting_, {})) {
      if (each.deadline <= now) {
        dropped.insert(each.what.user);
        drop(each, problem_.empty() ? "the session has timed out" : problem_);
      } else if (const auto process = of(each.what.user)) {
        give(each, *process);
      } else {
        waiting_.push_back(std::move(each));
      }
    }
    for (const auto user : dropped) let_go(user);  // their processes were kept for these orders
    if (!waiting_.empty()) wait();
  }
  void wait() {
    timer_.expires_after(pause_between_starts);
    timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (!error) self->go_on();
    });
  }
  /// Null if there can not be one now.
  std::shared_ptr<ending_process> of(uid_t user) {
    const auto known = processes_.find(user);
    if (known != processes_.end() && !known->second->is_over()) return known->second;
    if (known != processes_.end()) let_end(known);
    if (count() >= most_processes) {
      problem_ = "there are too many ending processes";
      return nullptr;
    }
    try {
      return processes_[user] = ending_process::start(executor_, program_);
    } catch (const std::exception& failure) {
      problem_ = failure.what();
      return nullptr;
    }
  }
  void give(order& which, ending_process& to) {
    problem_.clear();
    const auto user = which.what.user;
    try {
      to.order(std::move(which.what), which.deadline,
               [self = shared_from_this(), user, done = which.done](const ending& result) {
                 done(result);  // which can give another order
                 self->let_go(user);
               });
    } catch (const std::exception& failure) {
      drop(which, failure.what());
      let_go(user);
    }
  }
  static void drop(order& which, const std::string& why) {
    wipe(which.what.session);
    which.done({why, 0, 0, false});
  }
  void let_go(uid_t user) {
    const auto known = processes_.find(user);
    if (known == processes_.end() || known->second->pending() > 0 || waits(user)) return;
    if (!known->second->is_over()) known->second->leave();
    let_end(known);
  }
  /// It counts until it has ended.
  void let_end(processes::iterator which) {
    ending_.push_back(which->second);
    processes_.erase(which);
  }
  std::size_t count() {
    std::erase_if(ending_, [](const auto& each) { return each.expired(); });
    return processes_.size() + ending_.size();
  }
  bool waits(uid_t user) const {
    return std::ranges::any_of(waiting_, [user](const order& each) { return each.what.user == user; });
  }

  boost::asio::any_io_executor executor_;
  std::string program_;
  boost::asio::steady_timer timer_;
  processes processes_;
  std::vector<std::weak_ptr<ending_process>> ending_;  // those that are let go, or have failed, and live
  std::deque<order> waiting_;
  std::string problem_;  // why there was no process, the last time
};

}  // namespace

session_ender make_process_ender(const boost::asio::any_io_executor& executor, std::string program) {
  auto ender = std::make_shared<process_ender>(executor, std::move(program));
  return [ender](session_of_the_dead what, zkrecipes::lease_clock::time_point deadline,
                 std::function<void(const ending&)> done) { ender->end(std::move(what), deadline, std::move(done)); };
}

using boost::system::error_code;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// This much is given beyond the deadline of an order, and to a process that leaves.
constexpr seconds answer_time{5};
constexpr std::size_t size_of_read = 4096;

[[noreturn]] void throw_error(int number, const char* what) {
  throw std::system_error(number, std::generic_category(), what);
}

/// Signals to the whole unit are meant for the guardian, which waits for its ending processes.
void block_ends(posix_spawnattr_t& how) {
  sigset_t blocked;
  ::sigemptyset(&blocked);
  for (const int each : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&blocked, each);
  ::posix_spawnattr_setsigmask(&how, &blocked);
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
}

/// The process inherits its socket, as its standard input, and no other descriptor of ours.
pid_t spawn(const std::string& program, int its_socket) {
  std::string name = "zkrecipes-guardian", task = "--end-sessions";
  char* words[] = {name.data(), task.data(), nullptr};
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, its_socket, STDIN_FILENO);
  for (const int each : {STDOUT_FILENO, STDERR_FILENO}) {
    ::posix_spawn_file_actions_addopen(&files, each, "/dev/null", O_WRONLY, 0);
  }
  ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_t how;
  ::posix_spawnattr_init(&how);
  block_ends(how);
  pid_t pid = -1;
  const background_closer::pause no_last_one_in_the_child;
  const int failure = ::posix_spawn(&pid, program.c_str(), &files, &how, words, environ);
  ::posix_spawnattr_destroy(&how);
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
  const std::shared_ptr<ending_process> made(new ending_process(executor, pid));  // which kills it if we throw
  descriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));          // glibc declares it for C only
  if (!pidfd) throw_error(errno, "pidfd_open");
  made->take(ours, pidfd);
  made->read();
  return made;
}

ending_process::ending_process(const boost::asio::any_io_executor& executor, pid_t pid)
    : socket_(executor), pid_(pid), pidfd_(executor), timer_(executor), part_(size_of_read, '\0') {}

void ending_process::take(descriptor& its_socket, descriptor& pidfd) {
  socket_.assign(boost::asio::local::stream_protocol(), its_socket.get());
  its_socket.release();
  pidfd_.assign(pidfd.get());
  pidfd.release();
}

/// It is our child and not reaped, so the number is still its own.
void ending_process::kill() const {
  if (!is_reaped_) ::kill(pid_, SIGKILL);
}

ending_process::~ending_process() {
  for (auto& each : orders_) wipe(each);
  if (is_reaped_) return;
  kill();
  ::waitpid(pid_, nullptr, 0);
}

void ending_process::order(session_of_the_dead what, time_point deadline, handler done) {
  const auto now = zkrecipes::lease_clock::now();
  const auto left = std::max(deadline - now, time_point::duration::zero());
  ending_order order{++last_number_, std::move(what), std::chrono::ceil<milliseconds>(left)};
  auto lines = to_lines(order);
  wipe(order.what.session);
  if (!lines) throw std::runtime_error("the session or one of its terms is too large");
  orders_.push_back(std::move(*lines));
  pending_.emplace(order.number, pending_order{now + left + answer_time, std::move(done)});
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
  const auto latest = [](const auto& each) { return each.second.latest; };
  const auto first = latest(*std::ranges::min_element(pending_, {}, latest));
  timer_.expires_after(std::chrono::ceil<milliseconds>(first - zkrecipes::lease_clock::now()));
  timer_.async_wait([self = shared_from_this(), first](const error_code& error) {
    if (error || self->is_over()) return;
    const auto is_late = [first](const auto& each) { return each.second.latest <= first; };
    if (std::ranges::any_of(self->pending_, is_late)) self->fail("the ending process has not answered in time");
  });
}

void ending_process::fail(const std::string& why) {
  kill();
  error_code ignored;
  socket_.close(ignored);
  timer_.cancel();
  wait_for_end();
  for (const auto& [number, each] : std::exchange(pending_, {})) each.done({why, 0, 0, false});
}

void ending_process::leave() {
  error_code ignored;
  socket_.close(ignored);
  timer_.expires_after(answer_time);
  timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error) self->kill();
  });
  wait_for_end();
}

void ending_process::wait_for_end() {
  const auto wait_read = boost::asio::posix::stream_descriptor::wait_read;
  pidfd_.async_wait(wait_read, [self = shared_from_this()](const error_code&) {
    self->timer_.cancel();
    self->is_reaped_ = ::waitpid(self->pid_, nullptr, WNOHANG) != 0;
  });
}

}  // namespace guardian
