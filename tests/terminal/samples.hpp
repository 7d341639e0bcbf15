// Sample data of a cluster, for the tests.
#pragma once

#include <string>

#include <zkrecipes/consumer/shard_group_view.hpp>

#include "cluster/group.hpp"
#include "cluster/recipe_status.hpp"
#include "cluster/status.hpp"
#include "cluster/stream.hpp"
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

// Sample data of shard groups, for the tests.

/// Twelve shards: one is being handed over, one waits for the end of its dead owner, one begins its first term, one is
/// in quarantine, two wait for an absent member, and one is assigned to nobody.
zkrecipes::shard_group_view group_view();

/// The same as the tool sees it at `noon`.
zkadmin::group_status group();

/// That group, and a quiet one.
zkadmin::group_survey groups();

// Sources of messages outside of ZooKeeper, each with some of the problems.

/// Redis streams with an old message, dead letters, and a position that is damaged.
zkadmin::stream_status log_of_orders();

/// Queues of RabbitMQ, one of which has gone, and one of which nobody consumes.
zkadmin::stream_status queues_of_jobs();

/// Nothing is wrong but that the broker is away.
zkadmin::stream_status without_broker();

// A cluster in which everything is wrong that there is a rule for.

/// A leader, and two followers that serve and are not behind; one election, in office.
zkadmin::findings healthy();

/// All kinds of recipes.
inline constexpr zkadmin::wanted_kinds all_kinds{.queues = true};

/// Each problem but those of the whole ensemble.
zkadmin::findings sick();

/// A message that hangs, two places of one session, and an id that has come three times.
zkadmin::election_status standing_election();
/// A member that fails, one that comes again, and shards that stand still.
zkadmin::group_status failing_group();
/// It is declared, and has two instances.
zkadmin::recipe_status drained_service();
/// Empty, with a key that is parked.
zkadmin::queue_status queue_with_a_parked_key();
/// All are present, for long, and nobody has begun the round.
zkadmin::recipe_status full_round();

/// An election and two shard groups that nobody takes part in any more, and a group with a shard that it has not given
/// to anybody.
zkadmin::findings deserted();

/// A dashboard that has seen all of them.
zkadmin::model sick_dashboard();

}  // namespace samples
