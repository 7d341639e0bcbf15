#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "spawn.hpp"
#include "support.hpp"

/// The command `testbroker` in a process of its own, with a pipe to its standard input.
class commanded_broker {
 public:
  /// Returns when it has told the broker's state.
  explicit commanded_broker(std::vector<std::string> arguments, std::chrono::milliseconds time_limit = 15s) {
    int ends[2];
    BOOST_TEST_REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    input_ = ends[1];
    arguments.insert(arguments.begin(), BROKER_PROGRAM);
    pid_ = testcluster::detail::spawn({.command = arguments, .input = ends[0], .output = place_.path() / "out"});
    ::close(ends[0]);
    BOOST_TEST_REQUIRE(eventually([this] { return contains(said(), "\n"); }, time_limit));
  }
  ~commanded_broker() {
    if (input_ >= 0) ::close(input_);
    if (pid_ != 0) ::kill(pid_, SIGKILL), testcluster::detail::await(pid_);
  }
  commanded_broker(const commanded_broker&) = delete;
  commanded_broker& operator=(const commanded_broker&) = delete;

  void order(const std::string& what) {
    const auto line = what + "\n";
    BOOST_TEST_REQUIRE(::write(input_, line.data(), line.size()) == static_cast<ssize_t>(line.size()));
  }
  std::string said() const {
    std::ifstream file(place_.path() / "out");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  /// The process of a broker with one node, as the last line tells it; 0: it is stopped.
  pid_t broker() const {
    const auto text = said();
    const auto at = text.rfind("running ");
    const auto stopped = text.rfind("stopped");
    const bool runs = at != text.npos && (stopped == text.npos || stopped < at);
    return runs ? static_cast<pid_t>(std::stol(text.substr(at + 8))) : 0;
  }
  void end_input() { ::close(std::exchange(input_, -1)); }
  bool has_ended() {
    if (!eventually([this] { return testcluster::detail::collect(pid_); })) return false;
    pid_ = 0;
    return true;
  }
  void kill() { ::kill(pid_, SIGKILL); }

 private:
  scratch place_;
  int input_ = -1;
  pid_t pid_ = 0;
};
