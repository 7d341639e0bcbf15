// One holder, one contender, one cut.
#pragma once

#include <zkrecipes/session_options.hpp>

#include <testcluster/ensemble.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace follower_cut {

using elapsed = std::chrono::duration<double, std::milli>;

/// What the holder's session does while it holds: nothing, reads, or writes, one after the other. `breaks`: nothing, and
/// its connection is broken again and again around the moment at which the cut is noticed.
enum class load { idle, reads, writes, breaks };

/// Between which servers is cut, and how. `leader`: the holder's server is the leader, and it is cut off from both
/// others, which elect another. Else the holder's server is a follower, cut off from the leader. `link`: both ways at
/// once. `flip`: first only what the leader sends, right after the holder's heartbeat was answered; when the next
/// heartbeat has reached the leader, only what the follower sends. So the holder hears the answer, and the leader hears
/// nothing from the follower any more: the worst moment for who takes that answer as a proof.
enum class cut { link, flip, leader };

struct setting {
  std::chrono::milliseconds noticed{};  ///< After the cut, when the servers notice it: syncLimit ticks.
  std::chrono::milliseconds session{};
  zkrecipes::lease_mode mode{};
  follower_cut::load load{};
  follower_cut::cut cut{};
  std::chrono::milliseconds before_cut{};  ///< How long all is well first.
  std::chrono::milliseconds patience{};    ///< How long after the cut to look at most.
};

/// Times since the cut.
struct sighting {
  elapsed other_owns{};      ///< The contender has become owner.
  elapsed believed_until{};  ///< The last moment at which the old holder believed.
  std::string reason;        ///< What the old holder was told.
  elapsed overlap() const { return believed_until - other_owns; }
};

/// The holder's server is cut off from the contender's, and all is made whole again at the end. Nothing if the
/// contender did not become owner or the holder did not stop in time.
std::optional<sighting> look(testcluster::ensemble& cluster, const setting& how);

}  // namespace follower_cut
