#include "terminal/stroke.hpp"

#include "base/text.hpp"

namespace zkadmin {

std::string name_of(stroke typed) {
  switch (typed) {
    case strokes::enter: return "enter";
    case strokes::escape: return "esc";
    case strokes::tab: return "tab";
    case strokes::backspace: return "backspace";
    case strokes::up: return "up";
    case strokes::down: return "down";
    case strokes::home: return "home";
    case strokes::end: return "end";
    case strokes::page_up: return "PgUp";
    case strokes::page_down: return "PgDn";
    case strokes::shift_tab: return "shift-tab";
    case strokes::wheel_up: return "wheel-up";
    case strokes::wheel_down: return "wheel-down";
    default: break;
  }
  if (typed < 0x20) return std::string("ctrl-") + static_cast<char>('a' + typed - 1);
  return to_utf8(std::u32string(1, typed));
}

}  // namespace zkadmin
