#pragma once

#include <optional>

#include "agent.hpp"

namespace guardian {

struct invocation {
  agent_options options;
  int child = -1;  ///< The descriptor to serve instead of listening.
  bool is_ending_process = false;
};

/// Reads the command line. Nothing if there is nothing more to do: help was asked for, or it was wrong (`status`).
std::optional<invocation> parse_command_line(int argc, const char* const* argv, int& status);

}  // namespace guardian
