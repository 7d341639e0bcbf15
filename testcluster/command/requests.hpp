#pragma once

#include <boost/json.hpp>

#include <testcluster/ensemble.hpp>

#include "place.hpp"

namespace testcluster::command {

/// The whole cluster, as `up` and `status` show it.
boost::json::object describe(ensemble& cluster, const place& where);

/// Carries out a request from the control socket and returns the result to show. Throws if the request fails.
boost::json::object execute(const boost::json::object& request, ensemble& cluster, const place& where);

}  // namespace testcluster::command
