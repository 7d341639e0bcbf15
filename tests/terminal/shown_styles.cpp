#include "shown_styles.hpp"

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstdlib>

#include <boost/test/unit_test.hpp>

#include "pseudo_terminal.hpp"
#include "terminal/terminal.hpp"

namespace {

std::string to_runs(const std::vector<text_style>& styles) {
  std::string line;
  const auto last = std::find_if(styles.rbegin(), styles.rend(), [](const auto& each) { return each != text_style(); });
  for (auto begin = styles.begin(); begin < last.base();) {
    const auto end = std::find_if(begin, last.base(), [&](const auto& each) { return each != *begin; });
    line += (line.empty() ? "" : " ") + to_text(*begin) + std::to_string(end - begin);
    begin = end;
  }
  return line;
}

/// Draws, and then asks for reports of the mouse, which zkadmin does not do here: a sign that all has arrived. The
/// process ends at once, so that the terminal is not restored.
[[noreturn]] int draw(const std::string& type, bool color, const zkadmin::grid& screen) {
  ::setenv("TERM", type.c_str(), 1);
  std::setlocale(LC_ALL, "C.UTF-8");
  zkadmin::terminal on(color);
  on.draw(screen);
  std::fputs("\x1b[?1000h", stdout);
  std::fflush(stdout);
  std::_Exit(0);
}

}  // namespace

std::vector<std::vector<text_style>> styles_on(const std::string& terminal_type, bool color,
                                               const zkadmin::grid& screen) {
  boost::asio::io_context io;
  pseudo_terminal terminal(io, screen.width(), screen.height());
  terminal.start([&] { return draw(terminal_type, color, screen); });
  BOOST_TEST_REQUIRE(terminal.wait_until([&] { return terminal.screen().takes_mouse(); }));
  std::vector<std::vector<text_style>> lines;
  for (int y = 0; y < screen.height(); ++y) lines.push_back(terminal.screen().styles(y));
  BOOST_TEST_REQUIRE(terminal.exit_code() == 0);
  BOOST_TEST((color || !terminal.screen().saw_colors()));
  return lines;
}

std::string to_text(const std::vector<std::vector<text_style>>& lines) {
  std::string text;
  for (const auto& each : lines) text += to_runs(each) + "\n";
  return text;
}
