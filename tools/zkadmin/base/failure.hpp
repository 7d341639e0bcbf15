// The error with which a command ends, and its exit code.
#pragma once

#include <stdexcept>
#include <string>

#include "base/text.hpp"

namespace zkadmin {

enum class exit_code {
  ok = 0,
  error = 1,
  usage = 2,        ///< A mistake in the command line, the environment or the configuration file.
  unreachable = 3,  ///< None of the servers answers.
  not_found = 4,    ///< A command about one node: there is no such node.
  auth = 5,         ///< The credentials were refused, or do not suffice.
};

/// The message for the user, made fit for a terminal, and the exit code.
class failure : public std::runtime_error {
 public:
  failure(exit_code code, const std::string& message) : std::runtime_error(printable_lines(message)), code_(code) {}
  exit_code code() const noexcept { return code_; }

 private:
  exit_code code_;
};

// The failure of a command whose time is over. What it has sent may be executed all the same.

class overdue : public failure {
 public:
  using failure::failure;
};

}  // namespace zkadmin
