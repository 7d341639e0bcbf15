// Runs a program on a terminal of its own, and acts as the user.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <termios.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

// How a terminal shows a character.

struct text_style {
  bool is_bold = false;
  bool is_dim = false;
  bool is_underlined = false;
  bool is_reversed = false;
  int color = -1;       ///< Number in the palette; -1: that of the terminal.
  int background = -1;  ///< Number in the palette; -1: that of the terminal.

  /// The numbers of the sequence "select graphic rendition".
  void change(const std::vector<int>& numbers);
  friend bool operator==(const text_style&, const text_style&) = default;
};

/// "B" bold, "D" dim, "U" underlined, "R" reversed, then the colour: "red" or, beyond the first eight, its number, and
/// "/" with the background; "." if nothing of this.
std::string to_text(const text_style& style);

// The part of an ANSI terminal that ncurses uses, to read a screen from the output of a program.

class emulator {
 public:
  emulator(int width, int height);

  void feed(std::string_view bytes);
  void resize(int width, int height);

  /// The lines without blanks at their ends.
  std::string text() const;
  std::string line(int y) const;
  /// How each place of a line is shown.
  std::vector<text_style> styles(int y) const;

  bool is_cursor_visible() const { return cursor_visible_; }
  bool is_alternate_screen() const { return alternate_; }
  bool saw_colors() const { return saw_colors_; }
  /// Whether the program has asked for reports of the mouse.
  bool takes_mouse() const { return takes_mouse_; }

 private:
  struct cell {
    char32_t glyph = U' ';  // 0: the right half of a wide character
    text_style style{};
  };
  using cells = std::vector<cell>;

  void put(char32_t glyph);
  void control(char byte);
  void take(unsigned char byte);
  void finish_escape();
  void parse_numbers(std::string_view text);
  bool move_cursor(char last);
  bool edit(char last);
  bool change_state(char last);
  void set_modes(bool on);
  void erase(int from_x, int from_y, int to_x, int to_y);
  void erase_display(int which);
  void erase_line(int which);
  void move(int x, int y);
  void shift_lines(int top, int count);
  void shift_characters(int count);
  void set_region();
  int parameter(std::size_t index, int otherwise) const;

  int width_;
  int height_;
  int x_ = 0;
  int y_ = 0;
  int top_ = 0;     // First line of the scroll region.
  int bottom_ = 0;  // Last line of the scroll region.
  std::vector<cells> lines_;
  text_style style_;          // The style of what is written next.
  std::string escape_;        // An incomplete escape sequence, from ESC on.
  std::vector<int> numbers_;  // The numbers of the last complete escape sequence.
  char32_t glyph_ = 0;        // The first bits of an incomplete UTF-8 character.
  int missing_ = 0;           // How many bytes of this character are missing.
  char32_t last_ = U' ';
  bool cursor_visible_ = true;
  bool alternate_ = false;
  bool saw_colors_ = false;
  bool takes_mouse_ = false;
};

/// Pointers to these texts and a null at the end, as `execve` takes its arguments.
std::vector<char*> pointers(std::vector<std::string>& texts);

class pseudo_terminal {
 public:
  using variables = std::map<std::string, std::string>;

  explicit pseudo_terminal(boost::asio::io_context& io, int width = 80, int height = 24);
  /// Ends the program, if it still runs.
  ~pseudo_terminal();
  pseudo_terminal(const pseudo_terminal&) = delete;

  /// Runs a program with exactly these variables (and TERM=xterm-256color, LC_ALL=C.UTF-8 unless given).
  void start(const std::vector<std::string>& command, variables environment = {});
  /// Runs a function in a child process; its result is the exit code.
  void start(const std::function<int()>& body);

  void type(const std::string& keys);
  void resize(int width, int height);
  void send_signal(int number) const;
  /// Closes the window.
  void hang_up();

  /// Lets everything run until the condition holds; false after half a minute.
  bool wait_until(const std::function<bool()>& condition);
  /// Waits until the text is on the screen; if it does not come, logs the screen.
  bool shows(const std::string& text);
  bool shows_no_more(const std::string& text);
  /// The exit code once it has ended, or 128 + signal; -1 if it does not end.
  int exit_code();

  /// The program's; 0 before it has started.
  pid_t pid() const { return pid_; }
  const emulator& screen() const { return screen_; }
  termios modes() const;
  /// Whether reads do not block. All processes that have the terminal open share this mode.
  bool is_non_blocking() const;

 private:
  pid_t fork_onto_terminal();
  void read_on();

  boost::asio::io_context& io_;
  int terminal_side_;  // Kept open, so that the modes can be read when the program has ended.
  boost::asio::posix::stream_descriptor user_side_;
  boost::asio::posix::stream_descriptor process_;  // A pidfd: readable when the program has ended.
  std::array<char, 4096> buffer_{};
  emulator screen_;
  pid_t pid_ = 0;
  std::optional<int> ended_;
  /// A handler that was about to run when this was destroyed finds it gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

/// True if all flags and control characters are the same.
bool same_modes(const termios& a, const termios& b);
