// The tracks of a balance at one moment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes {

/// One track.
struct balance_track_status {
  std::string name{};
  std::uint64_t steps = 0;
  bool waiting = false;  ///< An `async_move` waits for the slower tracks.

  friend bool operator==(const balance_track_status&, const balance_track_status&) = default;
};

/// The tracks that are live, in no order, and how far they are apart, in steps.
struct balance_status {
  std::vector<balance_track_status> tracks{};
  std::uint64_t range = 0;  ///< As in the options.
  std::uint64_t limit = 0;  ///< So many steps a track may have made at the moment. It never falls.
  /// The distance between the fastest and the slowest track. While tracks move it may be less than the true one, and
  /// is never more.
  std::uint64_t spread = 0;
  /// The largest distance that was seen. It is looked at when a limit is computed and by `balance::status`, so it may
  /// be less than the largest one that there was, and is never more.
  std::uint64_t largest_spread = 0;

  friend bool operator==(const balance_status&, const balance_status&) = default;
};

}  // namespace zkrecipes
