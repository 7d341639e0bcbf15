// All that the dashboard knows, and how it changes. No terminal, no network, no clock in here.
#pragma once

#include "cluster/status.hpp"
#include "screen/grid.hpp"

#include <chrono>
#include <deque>
#include <string>
#include <variant>
#include <vector>

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
  // What is known. When a refresh fails the last answer stays, and `trouble` says why it is old.
  std::string title;
  std::vector<server_status> servers;
  election_survey survey;  ///< What has a problem comes first.
  wall_time now;
  wall_time surveyed_at;  ///< Of `survey`; the clock's epoch before the first one.
  std::string trouble;
  std::deque<event_line> events;  ///< Newest first, bounded.

  // What is looked at.
  page shown = page::overview;
  std::size_t selected = 0;  ///< Index into the elections; it follows its path.
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
struct resized {
  int height;
};
struct time_passed {};

using event = std::variant<key_pressed, servers_seen, elections_seen, elections_failed, resized, time_passed>;

/// What the caller has to do beyond drawing the model anew.
enum class effect { none, refresh, quit };

effect update(model& state, const event& what, wall_time now);

}  // namespace zkadmin
