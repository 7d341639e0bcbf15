#include "supervisor.hpp"

#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "descriptor.hpp"
#include "place.hpp"
#include "requests.hpp"
#include "service.hpp"

namespace testcluster::command {
namespace {

namespace json = boost::json;

/// Detaches from the terminal and closes every descriptor except the one that reports the outcome.
void go_to_background(detail::descriptor& outcome) {
  ::setsid();
  ::umask(077);
  ::signal(SIGPIPE, SIG_IGN);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, number);
  constexpr int kept = STDERR_FILENO + 1;
  if (outcome.get() != kept) {
    ::dup2(outcome.get(), kept);
    outcome = detail::descriptor(kept);
  }
  ::fcntl(kept, F_SETFD, FD_CLOEXEC);
  ::close_range(kept + 1, ~0U, 0);
}

/// Returns false if the parent process no longer waits for the outcome.
bool report(detail::descriptor& outcome, const json::object& what) {
  const auto text = json::serialize(what);
  const bool sent = ::write(outcome.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  outcome.reset();
  return sent;
}

void supervise(arguments wanted, detail::descriptor outcome) {
  try {
    place where(wanted.dir);
    ::chdir("/");
    wanted.ensemble.dir = where.ensemble();
    ensemble cluster(wanted.ensemble);
    service requests(cluster, where);
    if (report(outcome, {{"ok", describe(cluster, where.path())}})) requests.run();
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

}  // namespace

json::object start_supervisor(const arguments& wanted) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw error(std::string("pipe: ") + std::strerror(errno));
  detail::descriptor reading(ends[0]), writing(ends[1]);
  const auto child = ::fork();
  if (child < 0) throw error(std::string("fork: ") + std::strerror(errno));
  if (child == 0) {
    go_to_background(writing);
    supervise(wanted, std::move(writing));
    ::_exit(0);
  }
  writing.reset();
  const auto text = read_to_end(reading.get());
  if (text.empty()) throw error("the supervisor ended before the servers were ready");
  json::parse_options options;
  options.allow_invalid_utf8 = true;  // an error can contain the end of a log, with any bytes
  const auto outcome = json::parse(text, {}, options).as_object();
  if (const auto* problem = outcome.if_contains("error")) {
    ::waitpid(child, nullptr, 0);
    throw error(std::string(problem->as_string()));
  }
  return outcome.at("ok").as_object();
}

}  // namespace testcluster::command
