#include "screen/render.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/text.hpp"
#include "report/status_report.hpp"
#include "screen/page_content.hpp"
#include "terminal/table.hpp"

namespace zkadmin {

namespace {

/// Old data is shown with its age, and elections with the time since their phase began.
bool shows_passing_time(const model& state) noexcept {
  const bool has_ages = state.shown.which == page::elections || !state.shown.item.empty();
  return has_ages || !state.seen.trouble.empty();
}

page_inputs inputs_of(const model& state, int width) {
  const auto which = static_cast<std::size_t>(state.shown.which);
  const auto& looked = state.lists[which];
  page_inputs all{state.shown, state.revisions[which]};
  if (is_list(state.shown)) {
    all.filter = looked.filter;
    all.sorted_by = looked.sorted_by;
    all.is_inverted = looked.is_inverted;
  } else {
    all.width = width;
  }
  all.utc_offset = state.utc_offset;
  if (shows_passing_time(state)) all.second = std::chrono::floor<std::chrono::seconds>(state.now.time_since_epoch());
  return all;
}

}  // namespace

std::shared_ptr<const kept_page> page_of(const model& state, int width) {
  auto inputs = inputs_of(state, width);
  if (state.kept && state.kept->made_of == inputs) return state.kept;
  auto made = std::make_shared<kept_page>();
  made->made_of = std::move(inputs);
  if (is_list(state.shown)) {
    made->list = list_of(state, state.shown.which);
  } else {
    made->details = sheet_of(state, state.shown, width);
  }
  return made;
}

namespace {

/// "2 critical, 1 warning, not all known".
std::string problem_count(const verdict& judged) {
  const auto is_critical = [](const problem& each) { return each.how_bad == severity::critical; };
  const auto critical = std::count_if(judged.problems.begin(), judged.problems.end(), is_critical);
  const auto warnings = static_cast<std::ptrdiff_t>(judged.problems.size()) - critical;
  std::string text;
  if (critical > 0) append_to_list(text, std::to_string(critical) + " critical");
  if (warnings > 0) append_to_list(text, std::to_string(warnings) + (warnings == 1 ? " warning" : " warnings"));
  if (!judged.unknown.empty()) append_to_list(text, "not all known");
  return text;
}

look look_of(const verdict& judged) {
  if (is_critical(judged.problems)) return look::bad;
  return judged.problems.empty() ? look::dim : look::warning;
}

// A narrow screen shows the cluster's name, without the program's name, the problems and the time.
void draw_title(grid& screen, const model& state) {
  const bool is_narrow = screen.width() < 40;
  const std::string clock = (state.paused ? "PAUSED " : "") + (is_narrow ? "" : time_of_day(state, state.now));
  const int clock_x = std::max(screen.width() - places(clock) - 1, 0);
  const auto count = is_narrow ? std::string() : problem_count(state.judged);
  const int count_x = count.empty() ? clock_x : std::max(clock_x - places(count) - 2, 0);
  screen.put(1, 0, (is_narrow ? "" : "zkadmin  ") + state.title, look::title, count_x - 2);
  screen.put(clock_x, 0, clock);
  screen.mark_line(0, look::title);
  screen.put(count_x, 0, count, look_of(state.judged), clock_x - count_x);
}

void draw_banner(grid& screen, const model& state) {
  const auto banner = quorum_banner(state.seen.servers);
  screen.put(1, 1, banner.text, banner.look);
}

std::string key_hints(const model& state) {
  if (state.shown.which == page::help) return "q quit  esc back  j/k scroll";
  if (!is_list(state.shown)) return "q quit  esc back  j/k scroll  1-9 pages  ? help";
  return "q quit  ? help  1-9 pages  enter details  / filter  < > sort  Z pause";
}

/// The line that is being typed, the answer to it, or the keys.
void draw_last_line(grid& screen, const model& state, int y) {
  if (state.prompt) {
    const auto text = std::string(1, state.prompt->kind) + state.prompt->text + "_";
    screen.put(1, y, cut_at_begin(text, screen.width() - 2));
  } else if (!state.message.empty()) {
    screen.put(1, y, state.message, look::warning);
  } else {
    screen.put(1, y, key_hints(state), look::dim);
  }
}

}  // namespace

std::string time_of_day(const model& state, wall_time when) {
  const auto local = std::chrono::floor<std::chrono::seconds>(when) + state.utc_offset;
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
  if (state.seen.trouble.empty()) return is_first ? "looking for elections" : "";
  if (is_first) return state.seen.trouble;
  const auto age = std::chrono::floor<std::chrono::seconds>(state.now - state.surveyed_at);
  return "stale " + std::to_string(std::max<long long>(age.count(), 0)) + " s: " + state.seen.trouble;
}

grid render(const model& state, int width, int height, const view_options& options) {
  grid screen(width, height, options.ascii);
  draw_title(screen, state);
  draw_banner(screen, state);
  const lines body = body_of(height);
  const auto content = page_of(state, width);
  if (state.shown.which == page::overview) {
    draw_overview(screen, state, body, content->list);
  } else if (is_list(state.shown)) {
    draw_list(screen, state, body, content->list);
  } else {
    content->details.draw(screen, state.scroll, body);
  }
  draw_last_line(screen, state, body.top + body.count);
  return screen;
}

}  // namespace zkadmin
