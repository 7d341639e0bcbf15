// The terminal as a place for cells: a thin layer over ncurses, which nothing else includes.
#pragma once

#include "screen/grid.hpp"
#include "screen/model.hpp"

#include <memory>
#include <optional>

namespace zkadmin {

/// Takes over the terminal that standard input and output are, for the life of the object; then it is as it
/// was found. Call `std::setlocale` before. There is one at a time.
class terminal {
 public:
  /// Throws `failure` if it has no addressable screen, or TERM does not say what it is.
  explicit terminal(bool color);
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
  std::optional<key> read_key();

  /// Takes up the size that the window has now.
  void resize();

  /// Gives the terminal back for a while.
  void suspend();
  /// Takes it again; draws nothing.
  void resume();

 private:
  struct screen;
  std::unique_ptr<screen> screen_;
};

}  // namespace zkadmin
