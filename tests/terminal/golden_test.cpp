// Whole screens, compared with text files. With ZKADMIN_UPDATE_GOLDEN=1 the test writes the files anew: review the
// difference.
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "group_samples.hpp"
#include "samples.hpp"
#include "screen/render.hpp"

namespace {

using namespace std::chrono_literals;
using namespace zkadmin;

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

model with_page(key which) {
  model state = samples::dashboard();
  update(state, key_pressed{key::last}, samples::noon());
  update(state, key_pressed{which}, samples::noon());
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
  for (int i = 0; i < 20; ++i) update(state, key_pressed{key::down}, samples::noon());
  update(state, key_pressed{key::pause}, samples::noon());
  return state;
}

model with_groups() {
  model state = samples::dashboard();
  update(state, groups_seen{samples::groups().found}, samples::noon());
  return state;
}

model with_many_groups() {
  model state = crowded();
  std::vector<group_status> groups(30, samples::groups().found[1]);
  groups.push_back(samples::group());
  groups.back().path = "/a/rather/long/path/to/a/group\x1b[2J";
  update(state, groups_seen{groups}, samples::noon());
  return state;
}

struct scenario {
  const char* name;
  model (*make)();
  bool ascii;
};

const scenario scenarios[] = {
    {"overview", samples::dashboard, false},
    {"overview_ascii", samples::dashboard, true},
    {"details", [] { return with_page(key::enter); }, false},
    {"details_ascii", [] { return with_page(key::enter); }, true},
    {"help", [] { return with_page(key::help); }, false},
    {"help_ascii", [] { return with_page(key::help); }, true},
    {"troubled", troubled, false},
    {"troubled_ascii", troubled, true},
    {"crowded", crowded, false},
    {"crowded_ascii", crowded, true},
    {"groups", with_groups, false},
    {"groups_ascii", with_groups, true},
    {"many_groups", with_many_groups, false},
    {"many_groups_ascii", with_many_groups, true},
    {"empty", [] { return model{}; }, false},
    {"empty_ascii", [] { return model{}; }, true},
};

std::ostream& operator<<(std::ostream& out, const scenario& which) { return out << which.name; }

std::string all_sizes(const scenario& which) {
  std::ostringstream text;
  for (const auto& [width, height] : sizes) {
    model state = which.make();
    update(state, resized{height}, state.now);
    text << "=== " << width << "x" << height << "\n" << render(state, width, height, {which.ascii, 0s}).to_text();
  }
  return text.str();
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

BOOST_DATA_TEST_CASE(golden_screen, boost::unit_test::data::make(scenarios), which) {
  const std::string path = std::string(GOLDEN_DIR) + "/" + which.name + ".txt";
  const std::string text = all_sizes(which);
  if (std::getenv("ZKADMIN_UPDATE_GOLDEN")) std::ofstream(path) << text;
  BOOST_TEST(read(path) == text, "the screens differ from " << path << ":\n" << text);
}

BOOST_AUTO_TEST_CASE(ascii_screens_hold_nothing_else) {
  for (const auto& which : scenarios) {
    if (!which.ascii) continue;
    for (const unsigned char c : all_sizes(which)) BOOST_REQUIRE(c < 0x7f);
  }
}

BOOST_AUTO_TEST_CASE(no_size_is_too_small) {
  for (const auto& which : scenarios)
    for (int width = 0; width < 45; ++width)
      for (int height = 0; height < 12; ++height) {
        const grid screen = render(which.make(), width, height, {which.ascii, 0s});
        BOOST_REQUIRE_EQUAL(screen.width(), width);
        BOOST_REQUIRE_EQUAL(screen.height(), height);
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
