// zkadmin as a script runs it: with pipes instead of a terminal.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/test/tools/assertion_result.hpp>

struct program_result {
  int code = -1;  ///< The exit code, or 128 + signal; -1 if it did not end.
  std::string out;
  std::string err;
};

/// Whether it has ended with this code, and its errors hold the text; if not, what it has said.
boost::test_tools::assertion_result fails(const program_result& one, int code, const std::string& text);

/// Told of the standard output so far, with each part that comes.
using output_hook = std::function<void(const std::string& out)>;

/// Runs zkadmin with exactly these environment variables, and runs the context meanwhile.
program_result run_zkadmin(boost::asio::io_context& io, std::vector<std::string> arguments,
                           const std::map<std::string, std::string>& environment = {}, const output_hook& told = {});

// zkadmin while it runs.

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
