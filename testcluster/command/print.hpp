#pragma once

#include <iosfwd>

#include <boost/json.hpp>

#include "command_line.hpp"

namespace testcluster::command {

/// Shows the outcome of a command as the user asked for it: JSON, or text.
void print(std::ostream& out, const boost::json::object& outcome, const arguments& wanted);

}  // namespace testcluster::command
