#pragma once

#include <testcluster/ensemble.hpp>

#include <boost/json.hpp>

#include <filesystem>

namespace testcluster::command {

/// The whole cluster, as `up` and `status` show it.
boost::json::object describe(ensemble& cluster, const std::filesystem::path& dir);

/// Does what a request from the control socket asks and returns what to show. Throws if it can not be done.
boost::json::object execute(const boost::json::object& request, ensemble& cluster,
                            const std::filesystem::path& dir);

}  // namespace testcluster::command
