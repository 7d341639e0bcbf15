#include "terminal/table.hpp"

#include <boost/test/unit_test.hpp>

#include "problems/rules.hpp"
#include "report/status_report.hpp"
#include "samples.hpp"

using namespace zkadmin;

namespace {

table example() {
  table content;
  content.columns = {{"NAME"}, {"COUNT", 1, true}, {"REMARK", 2}};
  content.rows = {{{"a"}, {"1"}, {"x"}}, {{"bb"}, {"22"}, {"yy"}}, {{"c"}, {"a cell that spans"}}};
  return content;
}

std::string drawn(const table& content, int width) {
  grid screen(width, static_cast<int>(content.rows.size()) + 1);
  const auto columns = place_columns(content, 0, width);
  draw_titles(screen, 0, content, columns);
  int y = 1;
  for (const auto& row : content.rows) draw_row(screen, y++, content, row, columns);
  return screen.to_text();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tables)

BOOST_AUTO_TEST_CASE(natural_width_cuts_nothing) {
  const auto content = example();
  BOOST_TEST(natural_width(content) == 23);
  BOOST_TEST(drawn(content, 23) ==
             "NAME  COUNT  REMARK\n"
             "a         1  x\n"
             "bb       22  yy\n"
             "c     a cell that spans\n");
}

BOOST_AUTO_TEST_CASE(the_columns_that_matter_least_go_first) {
  BOOST_TEST(drawn(example(), 14) ==
             "NAME  COUNT\n"
             "a         1\n"
             "bb       22\n"
             "c     a cell …\n");
  BOOST_TEST(drawn(example(), 6) == "NAME\na\nbb\nc\n");
}

BOOST_AUTO_TEST_CASE(long_cells_are_cut_before_columns_go) {
  table content;
  content.columns = {{"PATH", 0, false, 6}, {"LEADER", 1}};
  content.rows = {{{"/a/very/long/path"}, {"me"}}};
  BOOST_TEST(drawn(content, 16) == "PATH      LEADER\n/a/very…  me\n");
}

BOOST_AUTO_TEST_CASE(banner_of_the_quorum) {
  auto servers = samples::servers();
  BOOST_TEST(quorum_banner(servers).text == "QUORUM 2/3 leader 127.1.2.2:2181");
  BOOST_TEST((quorum_banner(servers).look == look::warning));
  servers.pop_back();
  BOOST_TEST((quorum_banner(servers).look == look::good));
  servers.pop_back();
  BOOST_TEST(quorum_banner(servers).text == "QUORUM 1/1 leader not among the hosts");
  servers[0].role = server_role::standalone;
  BOOST_TEST(quorum_banner(servers).text == "STANDALONE");
  servers[0].role = server_role::not_serving;
  BOOST_TEST(quorum_banner(servers).text == "NO QUORUM 0/1");
  BOOST_TEST((quorum_banner(servers).look == look::bad));
}

// A leader that was paused may still claim to lead.
BOOST_AUTO_TEST_CASE(the_newest_leader_is_believed) {
  auto servers = samples::servers();
  servers[2] = servers[1];
  servers[2].server = "127.1.2.3:2181";
  servers[2].zxid = 0x200000001;
  BOOST_TEST(quorum_banner(servers).text == "QUORUM 3/3 leader 127.1.2.3:2181");
}

BOOST_AUTO_TEST_CASE(looks_tell_trouble) {
  const auto content = ensemble_table(samples::servers());
  BOOST_TEST((content.rows[0][1].look == look::plain));
  BOOST_TEST((content.rows[1][1].look == look::good));
  BOOST_TEST((content.rows[2][1].look == look::bad));
  auto lagging = samples::servers();
  lagging[0].zxid = *lagging[1].zxid - 20;
  BOOST_TEST((ensemble_table(lagging, {.zxid_limit = 10}).rows[0][1].look == look::warning));
  BOOST_TEST((election_table(samples::troubles()).rows[0][2].look == look::bad));
  BOOST_TEST((election_table(samples::elections()).rows[2][2].look == look::warning));
}

BOOST_AUTO_TEST_CASE(an_unknown_phase_is_worth_a_look_and_no_problem) {
  auto later = samples::elections()[0];
  later.phase = "unknown";
  BOOST_TEST(problems_of(later).empty());
  BOOST_TEST((election_table(std::vector{later}).rows[0][2].look == look::warning));
  later.leader.reset();
  later.waiters.clear();
  BOOST_TEST(text_of(problems_of(later)) == "in office by its record, but nobody is in line");
}

BOOST_AUTO_TEST_SUITE_END()
