// A cluster as the tests know it.
#pragma once

#include "cluster/status.hpp"
#include "screen/model.hpp"

namespace samples {

/// Noon of an arbitrary day.
zkadmin::wall_time noon();

/// Three servers: a leader, a follower and one that is down.
std::vector<zkadmin::server_status> servers();

/// A plain election, one with a hand-over going on, one with foreign data.
std::vector<zkadmin::election_status> elections();

/// One that nobody stands in line for, one whose leader does not heed a request, one that may not be read.
std::vector<zkadmin::election_status> troubles();

zkadmin::cluster_status cluster();

/// A dashboard that has seen all of the above, and something happen.
zkadmin::model dashboard();

}  // namespace samples
