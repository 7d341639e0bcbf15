#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "agent.hpp"
#include "early_proof.hpp"
#include "ending_process.hpp"
#include "event_log.hpp"
#include "format/shown_text.hpp"
#include "secrets.hpp"

namespace {

/// For sessions that are being ended when the guardian itself is to end.
constexpr std::chrono::seconds longest_finish{10};

/// Each connection takes some descriptors.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// An exception ends what it concerns, and not the guarding of everybody else.
void run_some(boost::asio::io_context& io, guardian::log_output& log) {
  try {
    io.run();
  } catch (const std::exception& failure) {
    log.write("handler_failed reason=" + guardian::printable(failure.what()));
  }
}

int run(const guardian::invocation& asked) {
  if (asked.options.early.after_end_of_line) {  // before we lock memory, because it forks
    const auto problem = guardian::early_proof_problem();
    if (!problem.empty()) {
      std::cerr << "zkrecipes-guardian: --early-proof can not be used: " << problem << '\n';
      return 1;
    }
  }
  raise_descriptor_limit();
  guardian::log_output log(STDERR_FILENO);
  const auto left = guardian::harden_process();
  if (!left.empty()) log.write("not_hardened reason=" + guardian::printable(left));
  boost::asio::io_context io(1);
  guardian::agent agent(io, asked.options, guardian::make_process_ender(io.get_executor(), "/proc/self/exe"),
                        [&log](std::string_view line) { log.write(line); });
  boost::asio::signal_set signals(io, SIGTERM, SIGINT);
  boost::asio::steady_timer limit(io);
  signals.async_wait([&](const boost::system::error_code& error, int) {
    if (error) return;
    agent.finish([&] { io.stop(); });
    limit.expires_after(longest_finish);
    limit.async_wait([&](const boost::system::error_code& stopped) {
      if (!stopped) io.stop();
    });
  });
  if (asked.child >= 0) {
    agent.serve(asked.child, [&] { io.stop(); });
  } else {
    agent.listen();
  }
  while (!io.stopped()) run_some(io, log);
  log.write("stopped");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);  // else the numbers of children that have ended would be free for others
  try {
    int status = 0;
    const auto asked = guardian::parse_command_line(argc, argv, status);
    if (!asked) return status;
    return asked->is_ending_process ? guardian::run_ending_worker() : run(*asked);
  } catch (const std::exception& error) {
    std::cerr << "zkrecipes-guardian: " << zkrecipes::detail::shown_text(error.what()) << '\n';
    return 1;
  }
}
