// Filters and commands, which the user types on the last line.
#pragma once

#include "screen/model.hpp"

namespace zkadmin {

/// Begins a line: `/` a filter, `:` a command.
void begin_typing(model& state, char kind);

/// A key while a line is being typed.
effect type(model& state, stroke typed);

/// Obeys a command: the name of a page, a path, or `q`. An unknown one is answered by a message.
effect obey(model& state, const std::string& command);

}  // namespace zkadmin
