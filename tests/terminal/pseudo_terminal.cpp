#include "pseudo_terminal.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include "base/text.hpp"

namespace {

/// What stands at `at`: a colour of the palette, or its number behind "38;5" or "48;5".
int color_at(const std::vector<int>& numbers, std::size_t& at, int first) {
  if (numbers[at] != first + 8) return numbers[at] - first;
  at += 2;
  return at < numbers.size() ? numbers[at] : -1;
}

bool is_between(int number, int first, int last) { return first <= number && number <= last; }

std::string name_of_color(int color) {
  constexpr std::array names{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"};
  const auto place = static_cast<std::size_t>(color);
  return place < names.size() ? names[place] : "#" + std::to_string(color) + ":";
}

}  // namespace

void text_style::change(const std::vector<int>& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const int each = numbers[i];
    if (each == 0) *this = {};
    if (each == 1) is_bold = true;
    if (each == 2) is_dim = true;
    if (each == 22) is_bold = is_dim = false;
    if (each == 4 || each == 24) is_underlined = each == 4;
    if (each == 7 || each == 27) is_reversed = each == 7;
    if (each == 39) color = -1;
    if (each == 49) background = -1;
    if (is_between(each, 30, 38)) color = color_at(numbers, i, 30);
    if (is_between(each, 40, 48)) background = color_at(numbers, i, 40);
    if (is_between(each, 90, 97)) color = each - 90 + 8;
    if (is_between(each, 100, 107)) background = each - 100 + 8;
  }
}

std::string to_text(const text_style& style) {
  std::string text;
  if (style.is_bold) text += 'B';
  if (style.is_dim) text += 'D';
  if (style.is_underlined) text += 'U';
  if (style.is_reversed) text += 'R';
  if (style.color >= 0) text += name_of_color(style.color);
  if (style.background >= 0) text += '/' + name_of_color(style.background);
  return text.empty() ? "." : text;
}

emulator::emulator(int width, int height) : width_(width), height_(height) { resize(width, height); }

void emulator::resize(int width, int height) {
  width_ = width;
  height_ = height;
  lines_.resize(static_cast<std::size_t>(height));
  for (auto& each : lines_) each.resize(static_cast<std::size_t>(width));
  top_ = 0;
  bottom_ = height - 1;
  move(x_, y_);
}

std::string emulator::line(int y) const {
  std::u32string shown;
  for (const auto& each : lines_.at(static_cast<std::size_t>(y)))
    if (each.glyph != 0) shown.push_back(each.glyph);
  shown.resize(shown.find_last_not_of(U' ') + 1);
  return zkadmin::to_utf8(shown);
}

std::vector<text_style> emulator::styles(int y) const {
  std::vector<text_style> all;
  for (const auto& each : lines_.at(static_cast<std::size_t>(y))) all.push_back(each.style);
  return all;
}

std::string emulator::text() const {
  std::string all;
  for (int y = 0; y < height_; ++y) all += line(y) + "\n";
  return all;
}

void emulator::feed(std::string_view bytes) {
  for (const char each : bytes) take(static_cast<unsigned char>(each));
}

void emulator::take(unsigned char byte) {
  if (!escape_.empty()) {
    escape_ += static_cast<char>(byte);
    const bool is_csi = escape_[1] == '[';
    const bool is_charset = escape_[1] == '(' || escape_[1] == ')';
    if (is_csi ? escape_.size() > 2 && byte >= 0x40 : !is_charset || escape_.size() == 3) finish_escape();
  } else if (byte == 0x1b) {
    escape_ = "\x1b";
  } else if (missing_ > 0) {
    glyph_ = glyph_ << 6 | (byte & 0x3F);
    if (--missing_ == 0) put(glyph_);
  } else if (byte >= 0xC0) {
    missing_ = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : 1;
    glyph_ = byte & (0x3F >> missing_);
  } else if (byte < 0x20) {
    control(static_cast<char>(byte));
  } else {
    put(byte);
  }
}

void emulator::control(char byte) {
  if (byte == '\r') x_ = 0;
  if (byte == '\b') x_ = std::max(x_ - 1, 0);
  if (byte == '\t') x_ = std::min(x_ / 8 * 8 + 8, width_ - 1);
  if (byte != '\n') return;
  if (y_ == bottom_) shift_lines(top_, -1);
  if (y_ != bottom_) move(x_, y_ + 1);
}

// Moves the lines from `top` to the end of the region down, or up if `count` is negative. Blank lines fill the gap.
void emulator::shift_lines(int top, int count) {
  const cells blank(static_cast<std::size_t>(width_));
  for (int i = 0; i < std::abs(count); ++i) {
    lines_.erase(lines_.begin() + (count > 0 ? bottom_ : top));
    lines_.insert(lines_.begin() + (count > 0 ? top : bottom_), blank);
  }
}

// Moves the characters from the cursor on to the right, or to the left if `count` is negative.
void emulator::shift_characters(int count) {
  auto& current = lines_[static_cast<std::size_t>(y_)];
  const auto here = current.begin() + x_;
  if (count > 0) current.insert(here, static_cast<std::size_t>(count), cell());
  if (count < 0) current.erase(here, here - std::max<std::ptrdiff_t>(count, x_ - width_));
  current.resize(static_cast<std::size_t>(width_));
}

void emulator::set_region() {
  top_ = std::clamp(parameter(0, 1) - 1, 0, height_ - 1);
  bottom_ = std::clamp(parameter(1, height_) - 1, top_, height_ - 1);
  move(0, 0);
}

void emulator::put(char32_t glyph) {
  last_ = glyph;
  if (x_ >= width_) {
    x_ = 0;
    control('\n');
  }
  auto& current = lines_[static_cast<std::size_t>(y_)];
  current[static_cast<std::size_t>(x_++)] = {glyph, style_};
  if (zkadmin::places(glyph) == 2 && x_ < width_) current[static_cast<std::size_t>(x_++)] = {0, style_};
}

void emulator::move(int x, int y) {
  x_ = std::clamp(x, 0, width_ - 1);
  y_ = std::clamp(y, 0, height_ - 1);
}

int emulator::parameter(std::size_t index, int otherwise) const {
  return index < numbers_.size() && numbers_[index] > 0 ? numbers_[index] : otherwise;
}

void emulator::erase(int from_x, int from_y, int to_x, int to_y) {
  for (int y = from_y; y <= to_y; ++y)
    for (int x = y == from_y ? from_x : 0; x < (y == to_y ? to_x : width_); ++x)
      lines_[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] = {};
}

void emulator::erase_display(int which) {
  if (which == 0) erase(x_, y_, width_, height_ - 1);
  if (which == 1) erase(0, 0, x_ + 1, y_);
  if (which == 2) erase(0, 0, width_, height_ - 1);
}

void emulator::erase_line(int which) {
  if (which == 0) erase(x_, y_, width_, y_);
  if (which == 1) erase(0, y_, x_ + 1, y_);
  if (which == 2) erase(0, y_, width_, y_);
}

void emulator::set_modes(bool on) {
  for (const int each : numbers_) {
    if (each == 25) cursor_visible_ = on;
    if (each == 1049 || each == 47) alternate_ = on;
    if (each == 1000) takes_mouse_ = on;
  }
}

void emulator::parse_numbers(std::string_view text) {
  numbers_ = {0};
  for (const char each : text) {
    if (each >= '0' && each <= '9') numbers_.back() = numbers_.back() * 10 + (each - '0');
    if (each == ';') numbers_.push_back(0);
  }
}

void emulator::finish_escape() {
  const std::string sequence = std::exchange(escape_, {});
  if (sequence[1] == '[') {
    parse_numbers(sequence);
    const char last = sequence.back();
    if (!move_cursor(last) && !edit(last) && !change_state(last))
      throw std::runtime_error("the emulator does not know the sequence ESC" + sequence.substr(1));
  } else if (sequence[1] == 'M' && y_ == top_) {
    shift_lines(top_, 1);
  } else if (sequence[1] == 'M') {
    move(x_, y_ - 1);
  }
}

// These three functions return whether the sequence with this last character is one of their own.
bool emulator::move_cursor(char last) {
  const int count = parameter(0, 1);
  // clang-format off
  switch (last) {
    case 'H': move(parameter(1, 1) - 1, count - 1); return true;
    case 'A': move(x_, y_ - count); return true;
    case 'B': move(x_, y_ + count); return true;
    case 'C': move(x_ + count, y_); return true;
    case 'D': move(x_ - count, y_); return true;
    case 'G': move(count - 1, y_); return true;
    case 'd': move(x_, count - 1); return true;
    default: return false;
  }
  // clang-format on
}

bool emulator::edit(char last) {
  const int count = parameter(0, 1);
  // clang-format off
  switch (last) {
    case 'J': erase_display(numbers_[0]); return true;
    case 'K': erase_line(numbers_[0]); return true;
    case 'X': erase(x_, y_, std::min(x_ + count, width_), y_); return true;
    case 'b': for (int i = 0; i < count; ++i) put(last_); return true;
    case 'S': shift_lines(top_, -count); return true;
    case 'T': shift_lines(top_, count); return true;
    case 'L': shift_lines(y_, count); return true;
    case 'M': shift_lines(y_, -count); return true;
    case '@': shift_characters(count); return true;
    case 'P': shift_characters(-count); return true;
    default: return false;
  }
  // clang-format on
}

bool emulator::change_state(char last) {
  const auto is_color = [](int number) { return (number >= 30 && number <= 38) || number >= 90; };
  // clang-format off
  switch (last) {
    case 'm': saw_colors_ |= std::any_of(numbers_.begin(), numbers_.end(), is_color); style_.change(numbers_); return true;
    case 'h': set_modes(true); return true;
    case 'l': set_modes(false); return true;
    case 'r': set_region(); return true;
    case 'c': case 't': case 'n': return true;  // Queries, and commands to a window manager.
    default: return false;
  }
  // clang-format on
}

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto long_enough = 30s;

}  // namespace

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (auto& each : texts) list.push_back(each.data());
  list.push_back(nullptr);
  return list;
}

pseudo_terminal::pseudo_terminal(asio::io_context& io, int width, int height)
    : io_(io), user_side_(io), process_(io), screen_(width, height) {
  int user = -1;
  winsize size{};
  size.ws_col = static_cast<unsigned short>(width);
  size.ws_row = static_cast<unsigned short>(height);
  if (::openpty(&user, &terminal_side_, nullptr, nullptr, &size) != 0) throw std::runtime_error("no pseudo-terminal");
  for (const int each : {user, terminal_side_}) ::fcntl(each, F_SETFD, FD_CLOEXEC);
  user_side_.assign(user);
  read_on();
}

pseudo_terminal::~pseudo_terminal() {
  if (terminal_side_ >= 0) ::close(terminal_side_);
  if (pid_ == 0 || ended_) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void pseudo_terminal::read_on() {
  const auto read = [this, alive = std::weak_ptr(alive_)](boost::system::error_code error, std::size_t size) {
    if (error || alive.expired()) return;
    screen_.feed({buffer_.data(), size});
    read_on();
  };
  user_side_.async_read_some(asio::buffer(buffer_), read);
}

pid_t pseudo_terminal::fork_onto_terminal() {
  pid_ = ::fork();
  if (pid_ != 0) {
    process_.assign(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    const auto end = [this, alive = std::weak_ptr(alive_)](boost::system::error_code error) {
      int status = 0;
      if (error || alive.expired() || ::waitpid(pid_, &status, 0) != pid_) return;
      ended_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    };
    process_.async_wait(asio::posix::stream_descriptor::wait_read, end);
    return pid_;
  }
  ::login_tty(::dup(terminal_side_));
  return 0;
}

void pseudo_terminal::start(const std::vector<std::string>& command, variables environment) {
  environment.try_emplace("TERM", "xterm-256color");
  environment.try_emplace("LC_ALL", "C.UTF-8");
  std::vector<std::string> words = command;
  std::vector<std::string> settings;
  for (const auto& [name, value] : environment) settings.push_back(name + "=" + value);
  const auto arguments = pointers(words);
  const auto texts = pointers(settings);
  if (fork_onto_terminal() != 0) return;
  ::execve(arguments[0], arguments.data(), texts.data());
  ::_exit(127);
}

void pseudo_terminal::start(const std::function<int()>& body) {
  if (fork_onto_terminal() != 0) return;
  ::setenv("TERM", "xterm", 1);
  ::_exit(body());
}

void pseudo_terminal::type(const std::string& keys) { asio::write(user_side_, asio::buffer(keys)); }

void pseudo_terminal::resize(int width, int height) {
  winsize size{};
  size.ws_col = static_cast<unsigned short>(width);
  size.ws_row = static_cast<unsigned short>(height);
  screen_.resize(width, height);
  ::ioctl(terminal_side_, TIOCSWINSZ, &size);
}

void pseudo_terminal::send_signal(int number) const { ::kill(pid_, number); }

void pseudo_terminal::hang_up() {
  ::close(terminal_side_);
  terminal_side_ = -1;
  user_side_.close();
}

bool pseudo_terminal::wait_until(const std::function<bool()>& condition) {
  const auto limit = std::chrono::steady_clock::now() + long_enough;
  const auto work = asio::make_work_guard(io_);
  // Returns the last result of the condition. It must not be evaluated again, because one more step can change the
  // screen.
  bool holds = condition();
  while (!holds && std::chrono::steady_clock::now() < limit) {
    io_.run_one_for(20ms);  // The condition may depend on time alone.
    holds = condition();
  }
  return holds;
}

bool pseudo_terminal::shows(const std::string& text) {
  const bool found = wait_until([&] { return screen_.text().find(text) != std::string::npos; });
  if (!found) BOOST_TEST_MESSAGE("no \"" << text << "\" on the screen:\n" << screen_.text());
  return found;
}

bool pseudo_terminal::shows_no_more(const std::string& text) {
  return wait_until([&] { return screen_.text().find(text) == std::string::npos; });
}

int pseudo_terminal::exit_code() {
  return wait_until([this] { return ended_.has_value(); }) ? *ended_ : -1;
}

termios pseudo_terminal::modes() const {
  termios present{};
  if (::tcgetattr(terminal_side_, &present) != 0) throw std::runtime_error("no terminal modes");
  return present;
}

bool pseudo_terminal::is_non_blocking() const { return (::fcntl(terminal_side_, F_GETFL) & O_NONBLOCK) != 0; }

bool same_modes(const termios& a, const termios& b) {
  return a.c_iflag == b.c_iflag && a.c_oflag == b.c_oflag && a.c_cflag == b.c_cflag && a.c_lflag == b.c_lflag &&
         std::equal(std::begin(a.c_cc), std::end(a.c_cc), std::begin(b.c_cc));
}
