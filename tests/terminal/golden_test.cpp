// Whole screens, compared with text files: their text, and how a terminal with 256 colours shows it. What follows from
// these is in no file of its own: the text in ASCII, and how terminals with 16 and without colours show it. With
// ZKADMIN_UPDATE_GOLDEN=1 the test writes the files anew: review the difference.
#include <algorithm>
#include <array>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "base/text.hpp"
#include "pseudo_terminal.hpp"
#include "samples.hpp"
#include "screen/render.hpp"
#include "terminal/grid.hpp"
#include "terminal/terminal.hpp"

using namespace std::chrono_literals;
using namespace zkadmin;

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

/// Draws the screen on a terminal of this type, and reads from what arrives there how each place of each line looks.
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

/// A line such as ".3 Bcyan6": three plain places and six in bold cyan; plain places at the end are left out.
std::string to_text(const std::vector<std::vector<text_style>>& lines) {
  std::string text;
  for (const auto& each : lines) text += to_runs(each) + "\n";
  return text;
}

constexpr std::array<std::pair<int, int>, 4> sizes{{{80, 24}, {120, 40}, {60, 20}, {20, 5}}};

model troubled() {
  model state = samples::dashboard();
  auto servers = samples::servers();
  servers[0].role = server_role::not_serving;
  servers[0].error = "not serving requests: no quorum, or still starting";
  servers[1] = server_status{};
  servers[1].server = "127.1.2.2:2181";
  servers[1].silent = true;
  servers[1].error = "no answer within 400 ms";
  update(state, servers_seen{servers}, samples::noon() + 1s);
  auto elections = samples::troubles();
  elections.push_back(samples::elections()[0]);
  update(state, elections_seen{{elections}}, samples::noon() + 1s);
  update(state, elections_failed{"no server is serving requests"}, samples::noon() + 2s);
  return state;
}

/// The dashboard of a sick cluster after these keys.
model sick_after(const std::u32string& keys) {
  model state = samples::sick_dashboard();
  samples::type(state, keys);
  return state;
}

model election_details() {
  model state = samples::dashboard();
  samples::type(state, U"G\r");
  return state;
}

// More servers and elections than fit, and names that are hard to show.
model crowded() {
  model state = samples::dashboard();
  auto elections = samples::elections();
  for (int i = 0; i < 60; ++i) {
    election_status each = elections[0];
    each.path = "/team-" + std::to_string(100 + i) + "/a/rather/long/path/to/the/election/of/a/service";
    each.leader->id = i % 2 ? "日本語の名前" : "r\xc3\xa9plique\x1b[31m\xff";
    elections.push_back(each);
  }
  auto servers = samples::servers();
  for (int i = 4; i < 24; ++i) {
    servers.push_back(servers[i % 3]);
    servers.back().server = "host-" + std::to_string(i) + ".example:2181";
  }
  update(state, servers_seen{servers}, samples::noon());
  update(state, elections_seen{{elections, {{"/jobs", "200 nodes below it were not looked at"}}, false}},
         samples::noon());
  samples::type(state, std::u32string(20, U'j') + U"Z");
  return state;
}

model with_groups() {
  model state = samples::dashboard();
  update(state, groups_seen{samples::groups()}, samples::noon());
  return state;
}

model with_many_groups() {
  model state = crowded();
  std::vector<group_status> groups(30, samples::groups().found[1]);
  groups.push_back(samples::group());
  groups.back().path = "/a/rather/long/path/to/a/group\x1b[2J";
  update(state, groups_seen{{groups}}, samples::noon());
  return state;
}

struct scenario {
  const char* name;
  std::function<model()> make;
};

const scenario scenarios[] = {
    {"overview", samples::dashboard},
    {"overview_troubled", troubled},
    {"overview_crowded", crowded},
    {"overview_groups", with_groups},
    {"overview_many_groups", with_many_groups},
    {"overview_empty", [] { return model{}; }},
    {"problems", [] { return sick_after(U"2"); }},
    {"elections", [] { return sick_after(U"3"); }},
    {"elections_crowded",
     [] {
       auto state = crowded();
       samples::type(state, U"3G");
       return state;
     }},
    {"election_details", election_details},
    {"groups", [] { return sick_after(U"4"); }},
    {"group_details", [] { return sick_after(U"4\r"); }},
    {"topics", [] { return sick_after(U"5"); }},
    {"topic_details", [] { return sick_after(U"5\r"); }},
    {"recipes", [] { return sick_after(U"6"); }},
    {"recipe_details", [] { return sick_after(U"6\r"); }},
    {"transactions", [] { return sick_after(U"7"); }},
    {"transaction_details", [] { return sick_after(U"7\r"); }},
    {"events", [] { return sick_after(U"8"); }},
    {"event_details", [] { return sick_after(U"8\r"); }},
    {"servers", [] { return sick_after(U"9"); }},
    {"server_details", [] { return sick_after(U"9\r"); }},
    {"help", [] { return sick_after(U"?"); }},
    {"filtered_and_sorted", [] { return sick_after(U"3/!dea\r>>I"); }},
    {"typing", [] { return sick_after(U"2:serv"); }},
    {"unknown_command", [] { return sick_after(U"2:nonesuch\r"); }},
};

/// How the cells are shown: with characters of any kind, in ASCII, and how the places of a terminal look then.
enum class drawing { text, ascii, colors };

struct golden_file {
  const scenario* which;
  drawing how;
};

std::string path_of(const golden_file& file) {
  return std::string(GOLDEN_DIR) + "/" + file.which->name + (file.how == drawing::colors ? "_colors.txt" : ".txt");
}

std::vector<golden_file> all_files() {
  std::vector<golden_file> files;
  for (const auto& each : scenarios)
    for (const auto how : {drawing::text, drawing::ascii, drawing::colors}) files.push_back({&each, how});
  return files;
}

std::ostream& operator<<(std::ostream& out, const golden_file& file) {
  const char* const ends[] = {"", "_ascii", "_colors"};
  return out << file.which->name << ends[static_cast<int>(file.how)];
}

/// Many empty lines as one.
std::string squeezed(const std::string& text) {
  std::istringstream lines(text);
  std::string line, result;
  int empty = 0;
  const auto end_gap = [&] {
    if (empty > 0) result += "(" + std::to_string(empty) + " empty)\n";
    empty = 0;
  };
  while (std::getline(lines, line)) {
    if (line.empty()) {
      ++empty;
      continue;
    }
    end_gap();
    result += line + "\n";
  }
  end_gap();
  return result;
}

grid drawn(const scenario& which, int width, int height, bool ascii = false) {
  model state = which.make();
  update(state, resized{width, height}, state.now);
  return render(state, width, height, {ascii});
}

std::string heading(int width, int height) {
  return "=== " + std::to_string(width) + "x" + std::to_string(height) + "\n";
}

/// The place on a terminal without colours: yellow is underlined, and what else has a colour is not told from the rest.
text_style without_color(text_style style) {
  constexpr int yellow = 3;
  if (style.color == yellow) style.is_underlined = true;
  style.color = -1;
  return style;
}

/// How a terminal shows the screen.
std::string colors(const grid& screen) {
  auto styles = styles_on("xterm-256color", true, screen);
  BOOST_TEST((styles_on("xterm-16color", true, screen) == styles), "16 colours are not enough");
  const auto text = to_text(styles);
  for (auto& line : styles) std::transform(line.begin(), line.end(), line.begin(), without_color);
  BOOST_TEST(to_text(styles_on("xterm-256color", false, screen)) == to_text(styles));
  return text;
}

std::string all_sizes(const golden_file& file) {
  std::string text;
  for (const auto& [width, height] : sizes) {
    const grid screen = drawn(*file.which, width, height, file.how == drawing::ascii);
    text += heading(width, height) + squeezed(file.how == drawing::colors ? colors(screen) : screen.to_text());
  }
  return text;
}

/// The lines in ASCII. A character that has no likeness there is a question mark. The places that wide ones take no
/// more stay empty behind their word.
std::string in_ascii(const std::string& text) {
  const std::map<char32_t, char> likenesses{{U'─', '-'}, {U'█', '#'}, {U'░', '.'}, {U'…', '~'}, {U'▸', '>'}};
  std::istringstream lines(text);
  std::string line, ascii;
  while (std::getline(lines, line)) {
    std::string gap;
    for (const char32_t each : displayable(line)) {
      const auto found = likenesses.find(each);
      if (places(each) == 1 && each != U'…') ascii += std::exchange(gap, "");
      if (places(each) == 2) gap += ' ';
      if (each < 0x7f) ascii += static_cast<char>(each);
      if (each >= 0x7f) ascii += found == likenesses.end() ? '?' : found->second;
    }
    ascii += '\n';
  }
  return ascii;
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

BOOST_DATA_TEST_CASE(golden_screen, boost::unit_test::data::make(all_files()), file) {
  const std::string path = path_of(file);
  const std::string text = all_sizes(file);
  const bool is_ascii = file.how == drawing::ascii;
  if (!is_ascii && std::getenv("ZKADMIN_UPDATE_GOLDEN")) std::ofstream(path) << text;
  const std::string expected = is_ascii ? in_ascii(read(path)) : read(path);
  BOOST_TEST(expected == text, "the screens differ from " << path << ":\n" << text);
}

BOOST_AUTO_TEST_CASE(ascii_screens_hold_nothing_else) {
  for (const auto& which : scenarios)
    for (const unsigned char c : all_sizes({&which, drawing::ascii})) BOOST_REQUIRE(c < 0x7f);
}

BOOST_AUTO_TEST_CASE(no_size_is_too_small) {
  for (const auto& which : scenarios) {
    const model made = which.make();
    for (int width = 0; width < 45; width += 3)
      for (int height = 0; height < 12; ++height) {
        model state = made;
        update(state, resized{width, height}, state.now);
        const grid screen = render(state, width, height, {});
        BOOST_REQUIRE_EQUAL(screen.width(), width);
        BOOST_REQUIRE_EQUAL(screen.height(), height);
      }
  }
}

BOOST_AUTO_TEST_CASE(control_characters_reach_no_cell) {
  const grid screen = render(crowded(), 120, 40, {});
  for (int y = 0; y < screen.height(); ++y)
    for (int x = 0; x < screen.width(); ++x) {
      const char32_t glyph = screen.at(x, y).glyph;
      BOOST_REQUIRE(glyph == 0 || (glyph >= 0x20 && glyph != 0x7f && glyph != 0x9b));
    }
}
