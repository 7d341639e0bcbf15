#include "screen/render.hpp"

#include <algorithm>
#include <cstdio>

#include "report/tables.hpp"
#include "screen/pages.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

// A narrow screen shows the cluster's name, without the program's name and the time.
void draw_title(grid& screen, const model& state, const view_options& options) {
  const bool is_narrow = screen.width() < 40;
  const std::string clock = (state.paused ? "PAUSED " : "") + (is_narrow ? "" : time_of_day(state.now, options));
  const int clock_x = std::max(screen.width() - places(clock) - 1, 0);
  screen.put(1, 0, (is_narrow ? "" : "zkadmin  ") + state.title, look::title, clock_x - 2);
  screen.put(clock_x, 0, clock);
  screen.mark_line(0, look::title);
}

void draw_banner(grid& screen, const model& state) {
  const auto banner = quorum_banner(state.servers);
  screen.put(1, 1, banner.text, banner.look);
}

void draw_keys(grid& screen, page shown, int y) {
  const char* const keys = shown == page::overview ? "q quit  ? help  j/k select  enter details  R refresh  Z pause"
                                                   : "q quit  esc back  j/k scroll  ? help";
  screen.put(1, y, keys, look::dim);
}

}  // namespace

std::string time_of_day(wall_time when, const view_options& options) {
  const auto local = std::chrono::floor<std::chrono::seconds>(when) + options.utc_offset;
  const std::chrono::hh_mm_ss clock(local - std::chrono::floor<std::chrono::days>(local));
  char text[16];
  std::snprintf(text, sizeof text, "%02d:%02d:%02d", static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()));
  return text;
}

lines body_of(int height) noexcept {
  constexpr int above = 2;  // Title and banner; the keys are below.
  return {above, std::max(height - above - 1, 0)};
}

std::string staleness(const model& state) {
  const bool is_first = state.surveyed_at == wall_time{};
  if (state.trouble.empty()) return is_first ? "looking for elections" : "";
  if (is_first) return state.trouble;
  const auto age = std::chrono::floor<std::chrono::seconds>(state.now - state.surveyed_at);
  return "stale " + std::to_string(std::max<long long>(age.count(), 0)) + " s: " + state.trouble;
}

grid render(const model& state, int width, int height, const view_options& options) {
  grid screen(width, height, options.ascii);
  draw_title(screen, state, options);
  draw_banner(screen, state);
  const lines body = body_of(height);
  switch (state.shown) {
    case page::overview: draw_overview(screen, state, body, options); break;
    case page::details: draw_details(screen, state, body, options); break;
    case page::help: draw_help(screen, state, body); break;
  }
  draw_keys(screen, state.shown, body.top + body.count);
  return screen;
}

}  // namespace zkadmin
