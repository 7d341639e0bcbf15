// zkadmin while it runs.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include <boost/asio/io_context.hpp>

#include "live/program.hpp"

/// It has pipes for its output and its errors, and nothing to read. Move-only.
class running_program {
 public:
  /// Starts zkadmin with exactly these environment variables.
  running_program(boost::asio::io_context& io, std::vector<std::string> arguments,
                  const std::map<std::string, std::string>& environment, output_hook told = {});
  running_program(running_program&&) noexcept;
  /// Kills it, and waits until no process has its pipes.
  ~running_program();

  pid_t pid() const;
  void send(int signal) const;
  /// What it has written so far.
  const std::string& out() const;
  const std::string& err() const;

  /// Waits until it has ended, and no process that it has started has its pipes. The code is -1 if that does not come.
  program_result wait();

 private:
  struct state;
  std::shared_ptr<state> state_;
};
