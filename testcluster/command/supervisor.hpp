#pragma once

#include <boost/json.hpp>

#include "command_line.hpp"

namespace testcluster::command {

/// Starts a background process that owns the ensemble and takes requests until it is told to end. Returns the
/// description that `up` shows once every server serves; throws testcluster::error if the start fails.
boost::json::object start_supervisor(const arguments& wanted);

}  // namespace testcluster::command
