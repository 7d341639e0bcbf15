#include "hold/hold.hpp"

#include <array>
#include <cerrno>
#include <ostream>
#include <system_error>

#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.hpp"
#include "hold/front.hpp"
#include "hold/keeper.hpp"
#include "hold/tenure.hpp"
#include "settings/values.hpp"

namespace zkadmin {
namespace {

std::string default_id() {
  std::array<char, 200> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return std::string(host.data()) + ":" + std::to_string(::getpid());
}

std::array<int, 2> make_line() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  return ends;
}

int run_keeper(surroundings& around, const settings& wanted, const std::string& path, const hold_options& how,
               const keeper_start& start) {
  ::prctl(PR_SET_NAME, "zkadmin keeper", 0, 0, 0);
  ::setpgid(0, 0);
  keep_descendants();
  start.signals.ignore();
  return keeper(around, wanted, path, how, start).run();
}

int run_both(surroundings& around, const settings& wanted, const std::string& path, const hold_options& how) {
  using boost::asio::execution_context;
  const inherited_signals signals;
  boost::asio::io_context& io = around.io;
  boot_timer last_resort;
  const auto [ours, theirs] = make_line();
  const pid_t group = ::getpgrp();
  keep_descendants();
  io.notify_fork(execution_context::fork_prepare);
  const pid_t keeper = ::fork();
  if (keeper < 0) throw std::system_error(errno, std::generic_category(), "fork");
  io.notify_fork(keeper == 0 ? execution_context::fork_child : execution_context::fork_parent);
  ::close(keeper == 0 ? ours : theirs);
  if (keeper == 0) return run_keeper(around, wanted, path, how, {theirs, group, signals, last_resort});
  return front(keeper, ours, last_resort, signals).run();
}

}  // namespace

/// A mistake of the user keeps its own status. That of every other failure differs from those of most commands.
int hold(surroundings& around, const settings& wanted, const std::string& path, hold_options how) {
  const auto checked = parse_path_argument(path);
  if (how.id.empty()) how.id = default_id();
  try {
    return run_both(around, wanted, checked, how);
  } catch (const failure& error) {
    if (error.code() == exit_code::usage) throw;
    around.err << "zkadmin: " << error.what() << std::endl;
  } catch (const std::exception& error) {
    around.err << "zkadmin: unexpected: " << printable(error.what()) << std::endl;
  }
  return to_int(hold_status::failed);
}

}  // namespace zkadmin
