// All that the dashboard knows, and how it changes. It does not use the terminal, the network or the clock.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cluster/recipe_status.hpp"
#include "problems/verdict.hpp"
#include "settings/settings.hpp"
#include "terminal/grid.hpp"
#include "terminal/input.hpp"

namespace zkadmin {

// The pages of the screen, and the places where the user can be.

/// In the order of their keys.
enum class page : std::uint8_t {
  overview,
  problems,
  elections,
  groups,
  topics,
  recipes,
  commits,
  events,
  servers,
  help
};
inline constexpr std::size_t page_count = 10;

struct page_info {
  page which;
  const char* digits;    ///< The keys that lead to it.
  const char* title;     ///< As in its heading.
  const char* commands;  ///< Names for the command line, with a space between them.
  const char* what;      ///< For people.
};

/// All pages but the help, which is not among those that tab goes through.
std::span<const page_info> all_pages() noexcept;

/// The page with this name on the command line.
std::optional<page> page_named(std::string_view command) noexcept;

/// The title of a page.
const char* title_of(page which) noexcept;

/// A page, or the details of one thing on it.
struct screen_place {
  page which = page::overview;
  std::string item{};  ///< The path or the name of the thing; empty: the page itself.
  friend bool operator==(const screen_place&, const screen_place&) = default;
};

using wall_time = std::chrono::system_clock::time_point;

/// One line of the list of events.
struct event_line {
  wall_time when;
  std::string text;
  zkadmin::look look = zkadmin::look::plain;
  std::uint64_t number = 0;  ///< Counts them.
};

/// How the user looks at the list of a page.
struct list_state {
  std::string id{};          ///< That of the selected row, which the selection follows.
  std::size_t selected = 0;  ///< Index of that row.
  std::size_t top = 0;       ///< Index of the first row on the screen.
  std::string filter{};
  std::optional<std::size_t> sorted_by{};  ///< Index of a column; nothing: the order of the page itself.
  bool is_inverted = false;
};

/// A line that the user is typing.
struct prompt_line {
  char kind = '/';  ///< `/`: a filter; `:`: a command.
  std::string text{};
};

struct kept_page;

struct model {
  // The known state. When a refresh fails the last answer stays, and `seen.trouble` says why it is old.
  std::string title;
  problem_limits limits;
  wanted_kinds kinds;
  findings seen;   ///< In each survey those with a problem come first.
  verdict judged;  ///< The problems of `seen`.
  wall_time now;
  wall_time surveyed_at;          ///< When the elections were read; the clock's epoch before the first time.
  std::deque<event_line> events;  ///< Newest first, bounded.
  std::uint64_t event_count = 0;
  std::chrono::seconds utc_offset{0};  ///< Applied to the times of day that are shown.

  // The part that the user looks at.
  screen_place shown;
  std::vector<screen_place> history;  ///< Where the user was before, the latest last; bounded.
  std::array<list_state, page_count> lists;
  std::size_t scroll = 0;  ///< First line of details or help.
  int width = 80;
  int height = 24;
  bool paused = false;
  std::optional<prompt_line> prompt;
  std::string message;  ///< An answer to what was typed last.

  // Made of the rest.
  std::array<std::uint64_t, page_count> revisions{};  ///< By page: counts the changes of what it shows.
  std::shared_ptr<const kept_page> kept;              ///< The content of the page; `page_of` tells whether it is true.
};

struct key_pressed {
  stroke typed;
};
struct servers_seen {
  std::vector<server_status> servers;
};
struct elections_seen {
  election_survey survey;
};
/// They are as they were seen last.
struct elections_confirmed {};
/// One election was in this state, or gone, and has changed again before the next survey.
struct election_passed {
  std::string path;
  std::optional<election_status> status;
};
struct elections_failed {
  std::string why;
};
struct groups_seen {
  group_survey survey;
};
struct topics_seen {
  topic_survey survey;
};
struct commits_seen {
  commit_survey survey;
};
struct queues_seen {
  queue_survey survey;
};
struct recipes_seen {
  recipe_survey survey;
};
struct resized {
  int width;
  int height;
};
struct time_passed {};

using event =
    std::variant<key_pressed, servers_seen, elections_seen, elections_confirmed, election_passed, elections_failed,
                 groups_seen, topics_seen, commits_seen, queues_seen, recipes_seen, resized, time_passed>;

/// The action that the caller has to take besides drawing the model anew.
enum class effect { none, refresh, quit };

effect update(model& state, event what, wall_time now);

}  // namespace zkadmin
