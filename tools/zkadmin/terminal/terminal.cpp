#include "terminal/terminal.hpp"

#define NCURSES_WIDECHAR 1
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <curses.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <term.h>
#include <unistd.h>

#include "base/failure.hpp"

// These macros of curses would replace ordinary names.
#undef lines
#undef columns

namespace zkadmin {
namespace {

enum pair_number : short { good_pair = 1, warning_pair, bad_pair, heading_pair };

struct attributes {
  attr_t bits;
  short pair;
};

// Looks are only an aid to the eye, with or without colours: the words on the screen hold all information.
attributes attributes_of(look how, bool color) {
  const auto paired = [color](attr_t bits, short pair) { return attributes{bits, color ? pair : short{0}}; };
  switch (how) {
    case look::plain: return {A_NORMAL, 0};
    case look::title: return {A_BOLD, 0};
    case look::heading: return paired(A_BOLD, heading_pair);
    case look::dim: return {A_DIM, 0};
    case look::good: return paired(A_NORMAL, good_pair);
    case look::warning: return paired(color ? A_NORMAL : A_UNDERLINE, warning_pair);
    case look::bad: return paired(A_BOLD, bad_pair);
    case look::selected: return {A_REVERSE, 0};
  }
  return {A_NORMAL, 0};
}

void start_colors() {
  start_color();
  use_default_colors();
  init_pair(good_pair, COLOR_GREEN, -1);
  init_pair(warning_pair, COLOR_YELLOW, -1);
  init_pair(bad_pair, COLOR_RED, -1);
  init_pair(heading_pair, COLOR_CYAN, -1);
}

stroke character_of(wint_t code) {
  switch (code) {
    case '\n': return strokes::enter;
    case '\b': return strokes::backspace;
    default: return static_cast<stroke>(code);
  }
}

/// The wheel; clicks are no key of ours.
stroke mouse_stroke() {
  MEVENT happened{};
  if (getmouse(&happened) != OK) return strokes::other;
  if (happened.bstate & BUTTON4_PRESSED) return strokes::wheel_up;
  return happened.bstate & BUTTON5_PRESSED ? strokes::wheel_down : strokes::other;
}

stroke function_key_of(wint_t code) {
  switch (code) {
    case KEY_UP: return strokes::up;
    case KEY_DOWN: return strokes::down;
    case KEY_HOME: return strokes::home;
    case KEY_END: return strokes::end;
    case KEY_PPAGE: return strokes::page_up;
    case KEY_NPAGE: return strokes::page_down;
    case KEY_BTAB: return strokes::shift_tab;
    case KEY_BACKSPACE: return strokes::backspace;
    case KEY_ENTER: return strokes::enter;
    case KEY_MOUSE: return mouse_stroke();
    default: return strokes::other;
  }
}

}  // namespace

struct terminal::screen {
  SCREEN* handle = nullptr;
  bool color = false;
};

terminal::terminal(bool color, bool mouse) : screen_(std::make_unique<screen>()) {
  const char* const type = std::getenv("TERM");
  screen_->handle = newterm(nullptr, stdout, stdin);
  if (!screen_->handle)
    throw failure(exit_code::usage, "the terminal type \"" + std::string(type ? type : "") +
                                        "\" is not known: set TERM, or use `zkadmin status`");
  if (!cursor_address) {
    endwin();
    delscreen(screen_->handle);
    throw failure(exit_code::usage, "the terminal type \"" + std::string(type ? type : "") +
                                        "\" has no addressable screen: set TERM, or use `zkadmin status`");
  }
  screen_->color = color && has_colors();
  if (screen_->color) start_colors();
  cbreak();
  noecho();
  nonl();
  nodelay(stdscr, true);
  keypad(stdscr, true);
  set_escdelay(25);
  curs_set(0);
  if (mouse) mousemask(BUTTON4_PRESSED | BUTTON5_PRESSED, nullptr);
}

terminal::~terminal() {
  endwin();
  delscreen(screen_->handle);
}

bool terminal::is_present() { return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO); }

int terminal::width() const { return getmaxx(stdscr); }
int terminal::height() const { return getmaxy(stdscr); }

bool terminal::is_unicode() { return std::string_view(nl_langinfo(CODESET)) == "UTF-8"; }

void terminal::draw(const grid& content) {
  erase();
  for (int y = 0; y < content.height(); ++y)
    for (int x = 0; x < content.width(); ++x) {
      const cell& each = content.at(x, y);
      if (each.glyph == 0) continue;
      const wchar_t text[] = {static_cast<wchar_t>(each.glyph), L'\0'};
      const auto [bits, pair] = attributes_of(each.look, screen_->color);
      cchar_t shown;
      setcchar(&shown, text, bits, pair, nullptr);
      mvadd_wch(y, x, &shown);
    }
  refresh();
}

std::optional<stroke> terminal::read_key() {
  wint_t code = 0;
  switch (get_wch(&code)) {
    case OK: return character_of(code);
    case KEY_CODE_YES: return function_key_of(code);
    default: return std::nullopt;
  }
}

void terminal::resize() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return;
  resizeterm(size.ws_row, size.ws_col);
  clearok(curscr, true);
}

void terminal::suspend() { endwin(); }

void terminal::resume() {
  reset_prog_mode();
  resize();
  clearok(curscr, true);
}

}  // namespace zkadmin
