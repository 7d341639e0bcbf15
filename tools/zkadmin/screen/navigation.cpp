#include "screen/navigation.hpp"

#include <algorithm>
#include <utility>

#include "screen/kept_page.hpp"
#include "screen/page_content.hpp"

namespace zkadmin {
namespace {

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

}  // namespace

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

void go_to_previous(model& state) {
  if (state.history.empty()) return;
  screen_place before = std::exchange(state.history.back(), state.shown);
  show(state, std::move(before));
}

void go_to_neighbour(model& state, int step) {
  constexpr int count = page_count - 1;  // all but the help
  const int present = state.shown.which == page::help ? 0 : static_cast<int>(state.shown.which);
  go_to(state, {static_cast<page>((present + step + count) % count)});
}

void go_to_path(model& state, const std::string& path) {
  if (const auto where = place_of(state, path)) return go_to(state, *where);
  state.message = "nothing is known at " + path;
}

int lines_of_page(const model& state) {
  const lines body = body_of(state.height);
  return is_list(state.shown) ? layout_of(body).rows : body.count;
}

void move_by(model& state, std::ptrdiff_t lines) {
  const auto present = static_cast<std::ptrdiff_t>(is_list(state.shown) ? state_of_list(state).selected : state.scroll);
  move_to(state, static_cast<std::size_t>(std::max<std::ptrdiff_t>(present + lines, 0)));
}

void move_to_first(model& state) { move_to(state, 0); }
void move_to_last(model& state) { move_to(state, static_cast<std::size_t>(-1)); }

void open_selected(model& state) {
  if (!is_list(state.shown)) return;
  const auto content = page_of(state);
  const auto& list = content->list;
  if (list.keys.empty()) return;
  const auto& target = list.keys[std::min(state_of_list(state).selected, list.keys.size() - 1)].target;
  if (target) return go_to(state, *target);
  state.message = "nothing is known of it besides this line";
}

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

}  // namespace zkadmin
