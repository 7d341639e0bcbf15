#include "supervisor.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "connection.hpp"
#include "descriptor.hpp"
#include "place.hpp"
#include "register.hpp"
#include "requests.hpp"

namespace testcluster::command {

namespace asio = boost::asio;
namespace json = boost::json;
using boost::system::error_code;

service::service(ensemble& cluster, const place& where, int lifeline)
    : cluster_(cluster), where_(where), acceptor_(io_, local::endpoint(where.socket().string())), lifeline_(io_) {
  if (lifeline >= 0) lifeline_.assign(lifeline);
  detail::close_on_exec(acceptor_.native_handle());
}

void service::run() {
  asio::signal_set signals(io_, SIGTERM, SIGINT);
  signals.async_wait([this](error_code, int) { io_.stop(); });
  char nothing = 0;
  if (lifeline_.is_open())
    lifeline_.async_read_some(asio::buffer(&nothing, 1), [this](error_code, std::size_t) { io_.stop(); });
  asio::co_spawn(io_, accept(), asio::detached);
  io_.run();
}

asio::awaitable<void> service::accept() {
  asio::steady_timer pause(io_);
  while (true) {
    error_code failed;
    auto peer = co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, failed));
    if (failed) {  // for example, no descriptor is free: this may pass
      pause.expires_after(std::chrono::milliseconds(50));
      co_await pause.async_wait(asio::use_awaitable);
      continue;
    }
    detail::close_on_exec(peer.native_handle());
    asio::co_spawn(io_, serve(std::make_shared<local::socket>(std::move(peer))), asio::detached);
  }
}

asio::awaitable<void> service::serve(std::shared_ptr<local::socket> peer) {
  constexpr std::size_t longest_request = 64 * 1024;
  asio::steady_timer timer(io_, std::chrono::seconds(5));
  timer.async_wait([peer](error_code ended) {
    if (!ended) peer->cancel();
  });
  error_code failed;
  std::string line;
  auto buffer = asio::dynamic_buffer(line, longest_request);
  co_await asio::async_read_until(*peer, buffer, '\n', asio::redirect_error(asio::use_awaitable, failed));
  timer.cancel();
  if (failed) co_return;
  const std::string reply = json::serialize(answer(line)) + "\n";
  co_await asio::async_write(*peer, asio::buffer(reply), asio::redirect_error(asio::use_awaitable, failed));
}

json::object service::answer(const std::string& line) {
  try {
    const auto request = json::parse(line).as_object();
    // `down` has no reply: the client waits for the end of this process.
    if (request.at("command").as_string() == "down") {
      io_.stop();
      return {};
    }
    return {{"ok", execute(request, cluster_, where_)}};
  } catch (const std::exception& problem) {
    return {{"error", problem.what()}};
  }
}

namespace {

namespace json = boost::json;

/// Closes every descriptor above standard error, except these two. The second one may be -1.
void close_all_but(int one, int other) {
  unsigned next = STDERR_FILENO + 1;
  for (const int kept : {std::min(one, other), std::max(one, other)}) {
    if (kept < 0) continue;
    const auto number = static_cast<unsigned>(kept);
    if (next < number) ::close_range(next, number - 1, 0);
    next = number + 1;
  }
  ::close_range(next, ~0U, 0);
}

/// Detaches from the terminal and from what this process has blocked.
void go_to_background() {
  ::setsid();
  ::umask(077);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, number);
}

/// Returns false if the parent process no longer waits for the outcome.
bool report(detail::descriptor& outcome, const json::object& what) {
  const auto text = json::serialize(what);
  const bool sent = ::write(outcome.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  outcome.reset();
  return sent;
}

/// The servers can not be started and the lifeline be watched at once. So the kernel kills this process if `owner` ends
/// during the start; the guards then end the servers and remove a temporary directory.
void live_with(pid_t owner) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != owner) ::_exit(1);
}

void supervise(arguments wanted, detail::descriptor outcome, int lifeline) {
  try {
    place where(wanted.dir, wanted.name);
    ::chdir("/");
    wanted.ensemble.dir = where.ensemble();
    ensemble cluster(wanted.ensemble);
    service requests(cluster, where, lifeline);
    ::prctl(PR_SET_PDEATHSIG, 0);  // from now on the lifeline tells
    if (report(outcome, {{"ok", describe(cluster, where)}})) requests.run();
  } catch (const std::exception& problem) {
    report(outcome, {{"error", problem.what()}});
  }
}

std::string read_to_end(int descriptor) {
  std::string text;
  char buffer[4096];
  while (true) {
    const auto size = ::read(descriptor, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return text;
    text.append(buffer, size);
  }
}

struct pipe_ends {
  detail::descriptor reading, writing;
};

pipe_ends make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw error(std::string("pipe: ") + std::strerror(errno));
  return {detail::descriptor(ends[0]), detail::descriptor(ends[1])};
}

/// The guards and servers of a killed supervisor become children of this process; returns when they have ended.
void await_orphans(std::chrono::milliseconds time_limit) {
  const auto deadline = std::chrono::steady_clock::now() + time_limit;
  sigset_t ends;
  sigset_t before;
  ::sigemptyset(&ends);
  ::sigaddset(&ends, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &ends, &before);  // an end between the two calls is not missed
  for (;;) {
    const auto ended = ::waitpid(-1, nullptr, WNOHANG);
    if (ended < 0 && errno != EINTR) break;
    if (ended != 0) continue;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    const timespec limit{left.count() / 1000, left.count() % 1000 * 1'000'000};
    ::sigtimedwait(&ends, nullptr, &limit);
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

supervisor::supervisor(const arguments& wanted, lifetime how) : dir_(wanted.dir) {
  auto outcome = make_pipe();
  auto life = how == lifetime::bound ? make_pipe() : pipe_ends{};
  const auto owner = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw error(std::string("fork: ") + std::strerror(errno));
  if (pid_ == 0) {
    go_to_background();
    if (how == lifetime::bound) live_with(owner);
    close_all_but(outcome.writing.get(), life.reading.get());
    supervise(wanted, std::move(outcome.writing), life.reading.get());
    ::_exit(0);
  }
  outcome_ = std::move(outcome.reading);
  lifeline_ = std::move(life.writing);
}

json::object supervisor::started() {
  const auto text = read_to_end(outcome_.get());
  if (text.empty()) throw error("the supervisor ended before the servers were ready");
  json::parse_options options;
  options.allow_invalid_utf8 = true;  // an error can contain the end of a log, with any bytes
  const auto outcome = json::parse(text, {}, options).as_object();
  if (const auto* problem = outcome.if_contains("error")) {
    ::waitpid(std::exchange(pid_, 0), nullptr, 0);  // end() must not wait for another process of this number
    throw error(std::string(problem->as_string()));
  }
  return outcome.at("ok").as_object();
}

void supervisor::end(std::chrono::milliseconds time_limit) {
  lifeline_.reset();
  if (!await_end(time_limit)) kill();
}

bool supervisor::await_end(std::chrono::milliseconds time_limit) const {
  const detail::descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (!process) return true;  // it has ended, and was collected
  pollfd ended{process.get(), POLLIN, 0};
  if (::poll(&ended, 1, static_cast<int>(time_limit.count())) != 1) return false;
  ::waitpid(pid_, nullptr, 0);
  return true;
}

void supervisor::kill() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  await_orphans(std::chrono::seconds(5));
  if (!dir_.empty() && examine(normal(dir_)) == condition::stale) remove_stale(normal(dir_));
  registered();  // forgets a temporary directory
}

}  // namespace testcluster::command
