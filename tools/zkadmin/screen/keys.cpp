#include "screen/keys.hpp"

#include <algorithm>

#include "screen/kept_page.hpp"
#include "screen/key_table.hpp"
#include "screen/navigation.hpp"
#include "screen/page_content.hpp"
#include "screen/typing.hpp"

namespace zkadmin {
namespace {

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

}  // namespace

effect press(model& state, stroke typed) {
  state.message.clear();
  const bool is_wheel = typed == strokes::wheel_up || typed == strokes::wheel_down;
  if (state.prompt && !is_wheel) return type(state, typed);
  const auto* binding = binding_of(typed);
  return binding ? act(state, *binding) : effect::none;
}

}  // namespace zkadmin
