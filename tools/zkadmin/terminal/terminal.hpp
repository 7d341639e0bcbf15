// Draws cells on the terminal: a thin layer over ncurses. No other header or source includes ncurses.
#pragma once

#include <memory>
#include <optional>

#include "terminal/grid.hpp"
#include "terminal/input.hpp"

namespace zkadmin {

/// Takes over the terminal of standard input and output for the life of the object, and then restores it. Call
/// `std::setlocale` before. Only one such object may exist at a time.
class terminal {
 public:
  /// With `mouse` the terminal reports the wheel. Throws `failure` if TERM names no known terminal, or one without an
  /// addressable screen.
  explicit terminal(bool color, bool mouse = false);
  ~terminal();
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;

  /// Whether standard input and output are a terminal.
  static bool is_present();

  int width() const;
  int height() const;

  /// Whether the locale can show more than ASCII.
  static bool is_unicode();

  void draw(const grid& screen);

  /// The next key that was typed; nothing if there is none now.
  std::optional<stroke> read_key();

  /// Adapts to the present size of the window.
  void resize();

  /// Gives the terminal back until `resume`.
  void suspend();
  /// Takes the terminal over again; draws nothing.
  void resume();

 private:
  struct screen;
  std::unique_ptr<screen> screen_;
};

}  // namespace zkadmin
