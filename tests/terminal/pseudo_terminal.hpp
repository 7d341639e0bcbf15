// Runs a program on a terminal of its own, and acts as the user.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <termios.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "emulator.hpp"

/// Pointers to these texts and a null at the end, as `execve` takes its arguments.
std::vector<char*> pointers(std::vector<std::string>& texts);

class pseudo_terminal {
 public:
  using variables = std::map<std::string, std::string>;

  explicit pseudo_terminal(boost::asio::io_context& io, int width = 80, int height = 24);
  /// Ends the program, if it still runs.
  ~pseudo_terminal();
  pseudo_terminal(const pseudo_terminal&) = delete;

  /// Runs a program with exactly these variables (and TERM=xterm-256color, LC_ALL=C.UTF-8 unless given).
  void start(const std::vector<std::string>& command, variables environment = {});
  /// Runs a function in a child process; its result is the exit code.
  void start(const std::function<int()>& body);

  void type(const std::string& keys);
  void resize(int width, int height);
  void send_signal(int number) const;
  /// Closes the window.
  void hang_up();

  /// Lets everything run until the condition holds; false after half a minute.
  bool wait_until(const std::function<bool()>& condition);
  /// Waits until the text is on the screen; if it does not come, logs the screen.
  bool shows(const std::string& text);
  bool shows_no_more(const std::string& text);
  /// The exit code once it has ended, or 128 + signal; -1 if it does not end.
  int exit_code();

  /// The program's; 0 before it has started.
  pid_t pid() const { return pid_; }
  const emulator& screen() const { return screen_; }
  termios modes() const;
  /// Whether reads do not block. All processes that have the terminal open share this mode.
  bool is_non_blocking() const;

 private:
  pid_t fork_onto_terminal();
  void read_on();

  boost::asio::io_context& io_;
  int terminal_side_;  // Kept open, so that the modes can be read when the program has ended.
  boost::asio::posix::stream_descriptor user_side_;
  boost::asio::posix::stream_descriptor process_;  // A pidfd: readable when the program has ended.
  std::array<char, 4096> buffer_{};
  emulator screen_;
  pid_t pid_ = 0;
  std::optional<int> ended_;
  /// A handler that was about to run when this was destroyed finds it gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

/// True if all flags and control characters are the same.
bool same_modes(const termios& a, const termios& b);
