#include "command.hpp"

#include <cstdlib>
#include <fstream>
#include <future>
#include <sstream>
#include <stdexcept>

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/process.hpp>
#include <boost/test/unit_test.hpp>

#include "spawn.hpp"

background_command::~background_command() {
  if (pid_ != 0) {
    signal(SIGKILL);
    testcluster::detail::await(pid_);
  }
  if (terminal_ >= 0) ::close(terminal_);
  BOOST_TEST(eventually([this] { return is_over(); }), "the command has left something behind");
}

std::vector<std::string> background_command::command_line(const std::vector<std::string>& arguments) const {
  std::vector<std::string> all{"env", "-u", "TESTCLUSTER_DIR", "XDG_RUNTIME_DIR=" + (place_.path() / "run").string(),
                               "TMPDIR=" + (place_.path() / "tmp").string()};
  for (const auto& [name, value] : environment_) all.push_back(name + "=" + value);
  all.emplace_back(COMMAND_PROGRAM);
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::filesystem::create_directory(place_.path() / "run");
  std::filesystem::create_directory(place_.path() / "tmp");
  return all;
}

void background_command::start(const std::vector<std::string>& arguments) {
  pid_ = testcluster::detail::spawn({.command = command_line(arguments), .output = place_.path() / "out"});
}

void background_command::start_on_terminal(const std::vector<std::string>& arguments) {
  const auto command = command_line(arguments);
  std::vector<char*> words;
  for (const auto& each : command) words.push_back(const_cast<char*>(each.c_str()));
  words.push_back(nullptr);
  pid_ = ::forkpty(&terminal_, nullptr, nullptr, nullptr);
  if (pid_ < 0) throw std::runtime_error("forkpty");
  if (pid_ == 0) {
    // A shell can not trap what was ignored when it began, as in a test that runs in the background of another shell.
    for (const int number : {SIGINT, SIGQUIT}) ::signal(number, SIG_DFL);
    ::execvp(words[0], words.data());
    ::_exit(99);
  }
  ::fcntl(terminal_, F_SETFL, O_NONBLOCK);
}

void background_command::type(const std::string& keys) {
  BOOST_TEST(::write(terminal_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
}

void background_command::close_terminal() {
  ::close(terminal_);
  terminal_ = -1;
}

std::string background_command::said() {
  if (terminal_ >= 0) {
    char buffer[4096];
    for (ssize_t size = 0; (size = ::read(terminal_, buffer, sizeof buffer)) > 0;) from_terminal_.append(buffer, size);
    return from_terminal_;
  }
  std::ifstream file(place_.path() / "out");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool background_command::says(const std::string& part) {
  return eventually([&] { return contains(said(), part); }, 60s);
}

void background_command::signal(int number) const { ::kill(pid_, number); }

int background_command::status() {
  int status = 0;
  if (!eventually([&] { return said(), ::waitpid(pid_, &status, WNOHANG) == pid_; }, 60s)) return -1;
  pid_ = 0;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool background_command::is_clean() const {
  return is_over() && !std::filesystem::exists(place_.path() / "run" / "testcluster");
}

bool background_command::is_over() const {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(place_.path() / "run" / "testcluster", ignored)) {
    if (std::filesystem::exists(entry.path(), ignored)) return false;
  }
  return (!std::filesystem::exists(place_.path() / "tmp") || std::filesystem::is_empty(place_.path() / "tmp"));
}

outcome command::run(const std::vector<std::string>& arguments) {
  namespace process = boost::process;
  boost::asio::io_context io;
  process::environment environment = boost::this_process::environment();
  environment.erase("TESTCLUSTER_DIR");
  environment["XDG_RUNTIME_DIR"] = place_.path().string();
  for (const auto& [name, value] : environment_) environment[name] = value;
  std::future<std::string> out, err;
  process::child child(COMMAND_PROGRAM, process::args(arguments), environment,
                       process::std_in<process::null, process::std_out> out, process::std_err > err, io);
  io.run();
  child.wait();
  return {child.exit_code(), out.get(), err.get()};
}

command::~command() {
  while (std::filesystem::exists(register_folder())) {
    const auto entry = *std::filesystem::directory_iterator(register_folder());
    if (run({"down", "--dir", std::filesystem::read_symlink(entry.path()).string()}).exit_code != 0) return;
  }
}
