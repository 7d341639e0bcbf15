#include "program.hpp"

#include <chrono>
#include <stdexcept>

#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect_pipe.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/readable_pipe.hpp>
#include <boost/asio/writable_pipe.hpp>

#include "pseudo_terminal.hpp"
#include "support/coroutine.hpp"

namespace asio = boost::asio;

namespace {

pid_t spawn(std::vector<std::string> words, std::vector<std::string> settings, int out, int err) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  pid_t pid = 0;
  const int error =
      ::posix_spawn(&pid, words[0].c_str(), &actions, nullptr, pointers(words).data(), pointers(settings).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot run " + words[0]);
  return pid;
}

}  // namespace

program_result run_zkadmin(asio::io_context& io, std::vector<std::string> arguments,
                           const std::map<std::string, std::string>& environment) {
  arguments.insert(arguments.begin(), ZKADMIN_PROGRAM);
  std::vector<std::string> settings;
  for (const auto& [name, value] : environment) settings.push_back(name + "=" + value);
  asio::readable_pipe out(io), err(io);
  asio::writable_pipe out_end(io), err_end(io);
  asio::connect_pipe(out, out_end);
  asio::connect_pipe(err, err_end);
  const pid_t pid = spawn(std::move(arguments), std::move(settings), out_end.native_handle(), err_end.native_handle());
  out_end.close();
  err_end.close();

  program_result result;
  int open = 2;
  const auto count_down = [&open](boost::system::error_code, std::size_t) { --open; };
  asio::async_read(out, asio::dynamic_buffer(result.out), count_down);
  asio::async_read(err, asio::dynamic_buffer(result.err), count_down);
  const bool ended = zkrecipes::test::run_until(io, [&open] { return open == 0; });
  if (!ended) ::kill(pid, SIGKILL);
  int status = 0;
  ::waitpid(pid, &status, 0);
  zkrecipes::test::run_until(io, [&open] { return open == 0; });
  if (ended) result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}
