#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "problems/rules.hpp"
#include "problems/verdict.hpp"
#include "screen/differences.hpp"
#include "screen/key_table.hpp"
#include "screen/model.hpp"
#include "screen/page_content.hpp"
#include "screen/render.hpp"

namespace zkadmin {
namespace {

// How the user moves on the screen.

/// Shows the place before the present one; the overview if there is none.
void go_back(model& state);

/// Lines of the part that moves.
int lines_of_page(const model& state);

constexpr std::size_t most_places = 100;

list_state& state_of_list(model& state) { return state.lists[static_cast<std::size_t>(state.shown.which)]; }

void show(model& state, screen_place where) {
  state.shown = std::move(where);
  state.scroll = 0;
}

void select(list_state& looked, const list_view& list, std::size_t index) {
  looked.selected = 0;
  if (list.keys.empty()) return;  // the id stays, for a filter that is cleared
  looked.selected = std::min(index, list.keys.size() - 1);
  looked.id = list.keys[looked.selected].id;
}

void scroll_to(model& state, std::size_t line) {
  const auto length = page_of(state)->details.length();
  state.scroll = std::min(line, length - std::min(length, static_cast<std::size_t>(lines_of_page(state))));
}

void move_to(model& state, std::size_t position) {
  if (is_list(state.shown)) {
    select(state_of_list(state), page_of(state)->list, position);
  } else {
    scroll_to(state, position);
  }
}

void follow_selection(list_state& looked, const list_view& list) {
  if (list.follows_top && looked.selected == 0) return select(looked, list, 0);
  const auto is_it = [&looked](const list_key& each) { return each.id == looked.id; };
  const auto found = std::find_if(list.keys.begin(), list.keys.end(), is_it);
  if (found == list.keys.end()) return select(looked, list, looked.selected);
  looked.selected = static_cast<std::size_t>(found - list.keys.begin());
}

/// Keeps the selected row on the screen, and no room free that rows could fill.
void keep_in_view(list_state& looked, std::size_t rows, std::size_t room) {
  looked.top = std::min(looked.top, looked.selected);
  if (looked.selected >= looked.top + room) looked.top = looked.selected + 1 - room;
  looked.top = std::min(looked.top, rows - std::min(rows, room));
}

void leave_lost_details(model& state) {
  if (is_list(state.shown) || state.shown.which == page::help) return;
  if (page_of(state)->details.length() > 0) return;
  state.message = state.shown.item + " is gone";
  std::erase(state.history, state.shown);
  go_back(state);
}

/// Shows a place, and remembers the present one.
void go_to(model& state, screen_place where) {
  if (where == state.shown) return;
  state.history.push_back(state.shown);
  if (state.history.size() > most_places) state.history.erase(state.history.begin());
  show(state, std::move(where));
}

void go_back(model& state) {
  screen_place before;
  if (!state.history.empty()) {
    before = std::move(state.history.back());
    state.history.pop_back();
  }
  show(state, std::move(before));
}

/// Shows the place where the user was before; a second time leads back here.
void go_to_previous(model& state) {
  if (state.history.empty()) return;
  screen_place before = std::exchange(state.history.back(), state.shown);
  show(state, std::move(before));
}

/// The page that is so many pages further, round and round.
void go_to_neighbour(model& state, int step) {
  constexpr int count = page_count - 1;  // all but the help
  const int present = state.shown.which == page::help ? 0 : static_cast<int>(state.shown.which);
  go_to(state, {static_cast<page>((present + step + count) % count)});
}

/// Details of what is at this path.
void go_to_path(model& state, const std::string& path) {
  if (const auto where = place_of(state, path)) return go_to(state, *where);
  state.message = "nothing is known at " + path;
}

int lines_of_page(const model& state) {
  const lines body = body_of(state.height);
  return is_list(state.shown) ? layout_of(body).rows : body.count;
}

/// Moves the selection of a list, or the text of another page, by so many lines; a negative number goes up.
void move_by(model& state, std::ptrdiff_t lines) {
  const auto present = static_cast<std::ptrdiff_t>(is_list(state.shown) ? state_of_list(state).selected : state.scroll);
  move_to(state, static_cast<std::size_t>(std::max<std::ptrdiff_t>(present + lines, 0)));
}

void move_to_first(model& state) { move_to(state, 0); }
void move_to_last(model& state) { move_to(state, static_cast<std::size_t>(-1)); }

/// Opens what is selected.
void open_selected(model& state) {
  if (!is_list(state.shown)) return;
  const auto content = page_of(state);
  const auto& list = content->list;
  if (list.keys.empty()) return;
  const auto& target = list.keys[std::min(state_of_list(state).selected, list.keys.size() - 1)].target;
  if (target) return go_to(state, *target);
  state.message = "nothing is known of it besides this line";
}

/// Makes the selection follow its row, and keeps it and the scrolled text on the screen. Leaves the details of what is
/// not there any more.
void settle(model& state) {
  state.kept = page_of(state);
  leave_lost_details(state);
  state.kept = page_of(state);
  if (!is_list(state.shown)) return scroll_to(state, state.scroll);
  const auto& list = state.kept->list;
  auto& looked = state_of_list(state);
  follow_selection(looked, list);
  keep_in_view(looked, list.keys.size(), static_cast<std::size_t>(std::max(lines_of_page(state), 1)));
}

// What the keys do.

// Filters and commands, which the user types on the last line.

/// Obeys a command: the name of a page, a path, or `q`. An unknown one is answered by a message.
effect obey(model& state, const std::string& command);

constexpr std::size_t longest_line = 1000;  // Bytes.

std::string& filter_of(model& state) { return state.lists[static_cast<std::size_t>(state.shown.which)].filter; }

/// The list follows each character.
void use_filter(model& state) {
  if (state.prompt->kind == '/') filter_of(state) = state.prompt->text;
}

void drop_last_character(std::string& text) {
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) text.pop_back();
  if (!text.empty()) text.pop_back();
}

effect finish(model& state) {
  const prompt_line typed = *state.prompt;
  state.prompt.reset();
  return typed.kind == ':' ? obey(state, typed.text) : effect::none;
}

void cancel(model& state) {
  state.prompt->text.clear();
  use_filter(state);
  state.prompt.reset();
}

bool is_character(stroke typed) noexcept { return typed >= 0x20 && typed != strokes::backspace && typed < 0x110000; }

/// Begins a line: `/` a filter, `:` a command.
void begin_typing(model& state, char kind) {
  if (kind == '/' && !is_list(state.shown)) {
    state.message = "there is no list to filter here";
    return;
  }
  state.prompt = prompt_line{kind, kind == '/' ? filter_of(state) : ""};
}

/// A key while a line is being typed.
effect type(model& state, stroke typed) {
  auto& text = state.prompt->text;
  if (typed == strokes::enter) return finish(state);
  if (typed == strokes::control('c')) return effect::quit;
  if (typed == strokes::escape) {
    cancel(state);
    return effect::none;
  }
  if (typed == strokes::backspace && text.empty()) {
    cancel(state);
    return effect::none;
  }
  if (typed == strokes::backspace) drop_last_character(text);
  if (typed == strokes::control('u')) text.clear();
  if (is_character(typed) && text.size() < longest_line) text += to_utf8(std::u32string(1, typed));
  use_filter(state);
  return effect::none;
}

effect obey(model& state, const std::string& command) {
  if (command == "q" || command == "quit") return effect::quit;
  if (command.starts_with('/')) {
    go_to_path(state, command);
  } else if (const auto which = page_named(command)) {
    go_to(state, {*which});
  } else if (!command.empty()) {
    state.message = "unknown command: " + command + "; ? shows all";
  }
  return effect::none;
}

constexpr int wheel_lines = 3;

list_state* list_on_screen(model& state) {
  return is_list(state.shown) ? &state.lists[static_cast<std::size_t>(state.shown.which)] : nullptr;
}

/// By the next column in this direction; before the first one is the order of the page itself.
void sort_by_neighbour(model& state, int step) {
  auto* looked = list_on_screen(state);
  if (!looked) return;
  const auto columns = static_cast<int>(page_of(state)->list.content.columns.size());
  const int present = looked->sorted_by ? static_cast<int>(*looked->sorted_by) : -1;
  const int next = std::clamp(present + step, -1, columns - 1);
  looked->sorted_by = next < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(next));
}

void invert(model& state) {
  if (auto* looked = list_on_screen(state)) looked->is_inverted = !looked->is_inverted;
}

void leave(model& state) {
  auto* looked = list_on_screen(state);
  if (!looked) return go_back(state);
  if (looked->filter.empty()) return go_to(state, {page::overview});
  looked->filter.clear();
}

effect pause(model& state) {
  state.paused = !state.paused;
  return state.paused ? effect::none : effect::refresh;
}

void toggle_help(model& state) {
  if (state.shown.which == page::help) return go_back(state);
  go_to(state, {page::help});
}

int page_step(const model& state) { return std::max(lines_of_page(state), 1); }
int half_step(const model& state) { return std::max(lines_of_page(state) / 2, 1); }

effect act(model& state, const key_binding& binding) {
  switch (binding.does) {
    case action::go_to: go_to(state, {binding.target}); break;
    case action::next_page: go_to_neighbour(state, 1); break;
    case action::last_page: go_to_neighbour(state, -1); break;
    case action::previous: go_to_previous(state); break;
    case action::up: move_by(state, -1); break;
    case action::down: move_by(state, 1); break;
    case action::page_up: move_by(state, -page_step(state)); break;
    case action::page_down: move_by(state, page_step(state)); break;
    case action::half_up: move_by(state, -half_step(state)); break;
    case action::half_down: move_by(state, half_step(state)); break;
    case action::wheel_up: move_by(state, -wheel_lines); break;
    case action::wheel_down: move_by(state, wheel_lines); break;
    case action::first: move_to_first(state); break;
    case action::last: move_to_last(state); break;
    case action::open: open_selected(state); break;
    case action::back: leave(state); break;
    case action::filter: begin_typing(state, '/'); break;
    case action::sort_left: sort_by_neighbour(state, -1); break;
    case action::sort_right: sort_by_neighbour(state, 1); break;
    case action::invert: invert(state); break;
    case action::command: begin_typing(state, ':'); break;
    case action::refresh: return effect::refresh;
    case action::pause: return pause(state);
    case action::help: toggle_help(state); break;
    case action::quit: return effect::quit;
    case action::suspend: break;  // the terminal makes a signal of this key
  }
  return effect::none;
}

/// Does what the table of the keys says.
effect press(model& state, stroke typed) {
  state.message.clear();
  const bool is_wheel = typed == strokes::wheel_up || typed == strokes::wheel_down;
  if (state.prompt && !is_wheel) return type(state, typed);
  const auto* binding = binding_of(typed);
  return binding ? act(state, *binding) : effect::none;
}

constexpr std::size_t max_events = 10'000;

/// What these pages show has changed.
void touch(model& state, std::initializer_list<page> pages) {
  for (const auto each : pages) ++state.revisions[static_cast<std::size_t>(each)];
}

void touch_all(model& state) {
  for (auto& each : state.revisions) ++each;
}

void add_events(model& state, const std::vector<change>& happened) {
  if (happened.empty()) return;
  for (const auto& each : happened) state.events.push_front({state.now, each.text, each.look, ++state.event_count});
  if (state.events.size() > max_events) state.events.resize(max_events);
  touch(state, {page::events});
}

void judge_anew(model& state) {
  state.judged = judge(state.seen, state.kinds, state.limits);
  touch(state, {page::problems});
}

/// Takes a survey of a kind whose problems are its only events.
template <class Status>
effect take(model& state, page where, std::optional<survey<Status>>& known, survey<Status>& seen) {
  const bool is_first = !known.has_value();
  const auto before = state.judged.problems;
  put_problems_first(seen.found, state.limits);
  known = std::move(seen);
  touch(state, {where});
  judge_anew(state);
  if (!is_first) add_events(state, differences(before, state.judged.problems));
  return effect::none;
}

/// The elections that are known are current.
void confirm(model& state) {
  // Each list says when the data is old, or not there yet.
  if (state.surveyed_at == wall_time{} || !state.seen.trouble.empty()) touch_all(state);
  state.surveyed_at = state.now;
  state.seen.trouble.clear();
}

effect handle(model& state, const key_pressed& pressed) { return press(state, pressed.typed); }

effect handle(model& state, servers_seen& seen) {
  auto& known = state.seen.servers;
  if (!known.empty()) add_events(state, differences(known, seen.servers));
  known = std::move(seen.servers);
  touch(state, {page::servers});
  judge_anew(state);
  return effect::none;
}

effect handle(model& state, elections_seen& seen) {
  put_problems_first(seen.survey.found, state.limits);
  auto& known = state.seen.elections;
  if (known) add_events(state, differences(known->found, seen.survey.found, state.limits));
  known = std::move(seen.survey);
  confirm(state);
  touch(state, {page::overview, page::elections});
  judge_anew(state);
  return effect::none;
}

effect handle(model& state, const elections_confirmed&) {
  const bool was_old = !state.seen.trouble.empty();
  confirm(state);
  if (was_old) judge_anew(state);
  return effect::none;
}

/// The order and the judgement are left to the survey that follows.
effect handle(model& state, election_passed& passed) {
  if (!state.seen.elections) return effect::none;
  auto& all = state.seen.elections->found;
  const auto is_it = [&passed](const auto& each) { return each.path == passed.path; };
  const auto known = std::find_if(all.begin(), all.end(), is_it);
  const bool was_there = known != all.end();
  const std::span<const election_status> before(was_there ? &*known : nullptr, was_there ? 1 : 0);
  const std::span<const election_status> after(passed.status ? &*passed.status : nullptr, passed.status ? 1 : 0);
  add_events(state, differences(before, after, state.limits));
  if (!passed.status) {
    if (was_there) all.erase(known);
  } else if (was_there) {
    *known = std::move(*passed.status);
  } else {
    all.push_back(std::move(*passed.status));
  }
  touch(state, {page::overview, page::elections});
  return effect::none;
}

effect handle(model& state, const elections_failed& failed) {
  if (state.seen.trouble == failed.why) return effect::none;
  state.seen.trouble = failed.why;
  touch_all(state);
  judge_anew(state);
  return effect::none;
}

effect handle(model& state, groups_seen& seen) { return take(state, page::groups, state.seen.groups, seen.survey); }
effect handle(model& state, topics_seen& seen) { return take(state, page::topics, state.seen.topics, seen.survey); }
effect handle(model& state, commits_seen& seen) { return take(state, page::commits, state.seen.commits, seen.survey); }
effect handle(model& state, recipes_seen& seen) { return take(state, page::recipes, state.seen.recipes, seen.survey); }
effect handle(model& state, queues_seen& seen) { return take(state, page::recipes, state.seen.queues, seen.survey); }

effect handle(model& state, const resized& size) {
  state.width = size.width;
  state.height = size.height;
  return effect::none;
}

effect handle(model&, const time_passed&) { return effect::none; }

}  // namespace

effect update(model& state, event what, wall_time now) {
  state.now = now;
  const effect result = std::visit([&state](auto& each) { return handle(state, each); }, what);
  settle(state);
  return result;
}

}  // namespace zkadmin
