// The options of `lock` and `lead` on the command line.
#pragma once

#include <span>

#include "hold/hold_options.hpp"

namespace CLI {
class App;
}

namespace zkadmin {

void add_lock_options(CLI::App& lock, hold_options& how);
void add_lead_options(CLI::App& lead, hold_options& how);

/// Moves what stands behind the first "--" into the options, as it is, and returns what stands in front.
std::span<const char* const> without_words(std::span<const char* const> arguments, hold_options& how);

}  // namespace zkadmin
