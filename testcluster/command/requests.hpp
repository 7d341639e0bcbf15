#pragma once

#include <filesystem>

#include <boost/json.hpp>

#include <testcluster/ensemble.hpp>

namespace testcluster::command {

/// The whole cluster, as `up` and `status` show it.
boost::json::object describe(ensemble& cluster, const std::filesystem::path& dir);

/// Carries out a request from the control socket and returns the result to show. Throws if the request fails.
boost::json::object execute(const boost::json::object& request, ensemble& cluster, const std::filesystem::path& dir);

}  // namespace testcluster::command
