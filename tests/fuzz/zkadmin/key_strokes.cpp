// Keys on the dashboard of a sick cluster. Each byte of the input is a key: a character, or from 0x80 on another key,
// the size of the window, or the passing of time.
#include <array>

#include "fuzz/target.hpp"
#include "screen/render.hpp"
#include "terminal/samples.hpp"

namespace fuzz::key_strokes_target {

using namespace zkadmin;

constexpr std::size_t most_keys = 60;
constexpr std::array<stroke, 11> other_keys{
    strokes::up,        strokes::down,     strokes::home,       strokes::end,   strokes::page_up, strokes::page_down,
    strokes::shift_tab, strokes::wheel_up, strokes::wheel_down, strokes::other, U'\u4E2D'};
constexpr std::array<std::pair<int, int>, 5> sizes{{{80, 24}, {200, 60}, {40, 10}, {20, 5}, {1, 1}}};

void require_screen(const model& state) {
  const auto screen = render(state, state.width, state.height, {});
  require(screen.width() == state.width && screen.height() == state.height, "the screen has its size");
  for (int y = 0; y < screen.height(); ++y)
    for (int x = 0; x < screen.width(); ++x) {
      const auto glyph = screen.at(x, y).glyph;
      require(glyph == 0 || (glyph >= 0x20 && (glyph < 0x7f || glyph > 0x9f)), "no control character is shown");
    }
}

effect press(model& state, unsigned char key) {
  if (key < 0x80) return update(state, key_pressed{key}, state.now);
  if (key < 0x80 + other_keys.size()) return update(state, key_pressed{other_keys[key - 0x80u]}, state.now);
  if (key < 0xc0) return update(state, time_passed{}, state.now + std::chrono::seconds(key));
  const auto& [width, height] = sizes[key % sizes.size()];
  return update(state, resized{width, height}, state.now);
}

void type_keys(std::string_view input) {
  static const model sick = samples::sick_dashboard();
  model state = sick;
  for (const char each : input.substr(0, most_keys)) {
    if (press(state, static_cast<unsigned char>(each)) == effect::quit) break;
    for (const auto& list : state.lists) require(list.filter.size() <= 4 * most_keys, "a filter is what was typed");
  }
  require_screen(state);
}

const target known("key_strokes", type_keys);

}  // namespace fuzz::key_strokes_target
