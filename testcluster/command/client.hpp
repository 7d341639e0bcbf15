#pragma once

#include <boost/json.hpp>

#include <filesystem>

namespace testcluster::command {

/// Has the supervisor of the cluster in `dir` do something and returns what it answers. Throws
/// testcluster::error with its reason if it can not.
boost::json::object ask(const std::filesystem::path& dir, const boost::json::object& request);

/// Tells the supervisor to end and waits until its process is gone.
void end_supervisor(const std::filesystem::path& dir);

}  // namespace testcluster::command
