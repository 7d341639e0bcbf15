#pragma once

#include "command_line.hpp"

#include <boost/json.hpp>

#include <iosfwd>

namespace testcluster::command {

/// Shows the outcome of a command as the user asked for it: JSON, or text.
void print(std::ostream& out, const boost::json::object& outcome, const arguments& wanted);

}  // namespace testcluster::command
