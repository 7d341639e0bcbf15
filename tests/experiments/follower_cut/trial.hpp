// One trial: a holder, a contender, and a cut.
#pragma once

#include <chrono>
#include <string>

#include <zkrecipes/session_options.hpp>

#include <testcluster/ensemble.hpp>

namespace follower_cut {

using elapsed = std::chrono::duration<double, std::milli>;

/// The requests of the holder's session while it holds: none, reads, or writes, one after the other. `breaks`: none,
/// and its connection is broken again and again from half a second before the servers notice the cut.
enum class load { idle, reads, writes, breaks };

/// Which servers are cut off from each other, and how. `leader`: the holder's server is the leader, and is cut off from
/// both others, which elect another one. `link` and `flip`: the holder's server is a follower, and is cut off from the
/// leader. `link`: both directions at once. `flip`: first only the direction from the leader, right after the holder's
/// heartbeat was answered; when the next heartbeat has reached the leader, only the direction from the follower. So the
/// holder hears the answer, but the leader hears nothing from the follower any more. That is the worst moment for a
/// lease that takes this answer as a proof.
enum class cut { link, flip, leader };

struct setting {
  std::chrono::milliseconds noticed{};  ///< How long after the cut the servers notice it: `syncLimit` ticks.
  std::chrono::milliseconds session{};
  zkrecipes::lease_mode mode{};
  follower_cut::load load{};
  follower_cut::cut cut{};
  std::chrono::milliseconds before_cut{};  ///< Time before the cut.
  std::chrono::milliseconds time_limit{};  ///< Longest time to observe after the cut.
};

/// The result of a trial. Times count from the cut.
struct sighting {
  elapsed other_owns{};      ///< When the contender became owner.
  elapsed believed_until{};  ///< The last moment at which the old holder believed, or at which we observed it.
  std::string reason;        ///< The error that the old holder was told.
  std::string no_overlap;    ///< If not empty: why both can not have believed at the same time; ignore the rest.
  elapsed overlap() const { return believed_until - other_owns; }
};

/// Runs one trial: cuts the holder's server off from the contender's, and heals all links at the end.
sighting look(testcluster::ensemble& cluster, const setting& how);

}  // namespace follower_cut
