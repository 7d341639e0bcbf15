// All that the dashboard knows, and how it changes. It does not use the terminal, the network or the clock.
#pragma once

#include <chrono>
#include <deque>
#include <string>
#include <variant>
#include <vector>

#include "cluster/group_status.hpp"
#include "cluster/status.hpp"
#include "problems/limits.hpp"
#include "screen/grid.hpp"

namespace zkadmin {

using wall_time = std::chrono::system_clock::time_point;

enum class page { overview, details, help };

/// One line of the list of events.
struct event_line {
  wall_time when;
  std::string text;
  zkadmin::look look = zkadmin::look::plain;
};

struct model {
  // The known state. When a refresh fails the last answer stays, and `trouble` says why it is old.
  std::string title;
  problem_limits limits;
  std::vector<server_status> servers;
  election_survey survey;  ///< Elections with a problem come first.
  wall_time now;
  wall_time surveyed_at;  ///< When `survey` was made; the clock's epoch before the first one.
  std::string trouble;
  std::vector<group_status> groups;  ///< Sorted by path.
  std::deque<event_line> events;     ///< Newest first, bounded.

  // The part that the user looks at.
  page shown = page::overview;
  std::size_t selected = 0;  ///< Index into the elections; follows the path of the selected one.
  std::size_t scroll = 0;    ///< First line of a page that is longer than the screen.
  int height = 24;           ///< Lines of the screen.
  bool paused = false;
};

enum class key { up, down, first, last, enter, back, help, quit, refresh, pause, other };

struct key_pressed {
  key which;
};
struct servers_seen {
  std::vector<server_status> servers;
};
struct elections_seen {
  election_survey survey;
};
struct elections_failed {
  std::string why;
};
struct groups_seen {
  std::vector<group_status> groups;
};
struct resized {
  int height;
};
struct time_passed {};

using event =
    std::variant<key_pressed, servers_seen, elections_seen, elections_failed, groups_seen, resized, time_passed>;

/// The action that the caller has to take besides drawing the model anew.
enum class effect { none, refresh, quit };

effect update(model& state, const event& what, wall_time now);

}  // namespace zkadmin
