#include "live/running_program.hpp"

#include <array>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect_pipe.hpp>
#include <boost/asio/readable_pipe.hpp>
#include <boost/asio/writable_pipe.hpp>

#include "pseudo_terminal.hpp"
#include "support/coroutine.hpp"

namespace asio = boost::asio;

boost::test_tools::assertion_result fails(const program_result& one, int code, const std::string& text) {
  boost::test_tools::assertion_result result(one.code == code && one.err.find(text) != std::string::npos);
  result.message() << "code " << one.code << ": " << one.err;
  return result;
}

program_result run_zkadmin(boost::asio::io_context& io, std::vector<std::string> arguments,
                           const std::map<std::string, std::string>& environment, const output_hook& told) {
  return running_program(io, std::move(arguments), environment, told).wait();
}

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

struct running_program::state : std::enable_shared_from_this<running_program::state> {
  explicit state(asio::io_context& on)
      : io(on), out{asio::readable_pipe(on), result.out}, err{asio::readable_pipe(on), result.err} {}

  struct stream {
    asio::readable_pipe pipe;
    std::string& text;
    std::array<char, 4096> buffer{};
  };

  void read_on(stream& from) {
    from.pipe.async_read_some(asio::buffer(from.buffer),
                              [self = shared_from_this(), &from](boost::system::error_code error, std::size_t n) {
                                from.text.append(from.buffer.data(), n);
                                if (self->told && &from == &self->out) self->told(self->result.out);
                                if (error) {
                                  --self->open;
                                } else {
                                  self->read_on(from);
                                }
                              });
  }

  asio::io_context& io;
  output_hook told;
  program_result result;
  stream out;
  stream err;
  pid_t pid = 0;
  int open = 2;
  bool is_over = false;
};

running_program::running_program(asio::io_context& io, std::vector<std::string> arguments,
                                 const std::map<std::string, std::string>& environment, output_hook told)
    : state_(std::make_shared<state>(io)) {
  state_->told = std::move(told);
  arguments.insert(arguments.begin(), ZKADMIN_PROGRAM);
  std::vector<std::string> settings;
  for (const auto& [name, value] : environment) settings.push_back(name + "=" + value);
  asio::writable_pipe out_end(io), err_end(io);
  asio::connect_pipe(state_->out.pipe, out_end);
  asio::connect_pipe(state_->err.pipe, err_end);
  // What the program leaves running must not have them, but for those of its standard streams.
  for (const int each : {state_->out.pipe.native_handle(), state_->err.pipe.native_handle(), out_end.native_handle(),
                         err_end.native_handle()})
    ::fcntl(each, F_SETFD, FD_CLOEXEC);
  state_->pid = spawn(std::move(arguments), std::move(settings), out_end.native_handle(), err_end.native_handle());
  state_->read_on(state_->out);
  state_->read_on(state_->err);
}

running_program::running_program(running_program&&) noexcept = default;

running_program::~running_program() {
  if (!state_) return;
  if (!state_->is_over) send(SIGKILL);
  wait();
  for (auto* each : {&state_->out, &state_->err}) each->pipe.close();
}

pid_t running_program::pid() const { return state_->pid; }
void running_program::send(int signal) const { ::kill(state_->pid, signal); }
const std::string& running_program::out() const { return state_->result.out; }
const std::string& running_program::err() const { return state_->result.err; }

program_result running_program::wait() {
  auto& on = *state_;
  if (on.is_over) return on.result;
  const bool ended = zkrecipes::test::run_until(on.io, [&on] { return on.open == 0; });
  if (!ended) send(SIGKILL);
  int status = 0;
  ::waitpid(on.pid, &status, 0);
  zkrecipes::test::run_until(on.io, [&on] { return on.open == 0; });
  on.is_over = true;
  if (ended) on.result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return on.result;
}
