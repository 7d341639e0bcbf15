// How `check` ends, whatever it has looked at.
#pragma once

#include "commands/commands.hpp"

namespace zkadmin {

/// Prints the verdict, and returns its state. Throws `failure` if the output could not be written.
check_state print_verdict(surroundings& around, const verdict& judged, output_format format);

}  // namespace zkadmin
