#pragma once

#include <filesystem>

#include <boost/json.hpp>

namespace testcluster::command {

/// Sends a request to the supervisor of the cluster in `dir` and returns its answer. Throws testcluster::error with the
/// reason if the request fails.
boost::json::object ask(const std::filesystem::path& dir, const boost::json::object& request);

/// Tells the supervisor to end and waits until its process is gone.
void end_supervisor(const std::filesystem::path& dir);

}  // namespace testcluster::command
