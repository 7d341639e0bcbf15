// Sample data of a cluster, for the tests.
#pragma once

#include <string>

#include "cluster/status.hpp"
#include "screen/model.hpp"

namespace samples {

/// Noon of an arbitrary day.
zkadmin::wall_time noon();

/// Three servers: a leader, a follower and one that is down.
std::vector<zkadmin::server_status> servers();

/// A plain election, one with a hand-over going on, one with foreign data.
std::vector<zkadmin::election_status> elections();

/// One in office by its record without a candidate in line, one whose leader ignores a request, one that may not be
/// read.
std::vector<zkadmin::election_status> troubles();

zkadmin::cluster_status cluster();

/// A dashboard that has seen `servers` and `elections`, and some changes before.
zkadmin::model dashboard();

/// Types these keys; returns the effect of the last one.
zkadmin::effect type(zkadmin::model& state, const std::u32string& keys);

}  // namespace samples
