#include "terminal/table.hpp"

#include <algorithm>

#include <boost/test/unit_test.hpp>

#include "base/text.hpp"
#include "problems/rules.hpp"
#include "report/formats.hpp"
#include "report/status_report.hpp"
#include "samples.hpp"

using namespace zkadmin;
using namespace std::chrono_literals;

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

BOOST_AUTO_TEST_CASE(a_cell_of_any_length_is_shortened_when_printed) {
  auto content = example();
  content.rows.front().front().text = std::string(1'000'000, 'a');
  content.rows.insert(content.rows.end(), 5'000, {{"b"}, {"1"}, {"x"}});
  const auto text = printed(content);
  BOOST_TEST(text.find(std::string(1'000, 'a') + "... (1000000 bytes)") != text.npos);
  BOOST_TEST(std::count(text.begin(), text.end(), '\n') == 5'004);
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
  BOOST_TEST(text_of(problems_of(later)) == "its record has a leader, but nobody is in line");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(fitted)

BOOST_AUTO_TEST_CASE(long_texts_keep_both_ends) {
  BOOST_TEST(cut_in_middle("/orders", 7) == "/orders");
  BOOST_TEST(cut_in_middle("/orders/consumer", 9) == "/ord…umer");
  BOOST_TEST(cut_in_middle("/orders/consumer", 8) == "/or…umer");
  BOOST_TEST(cut_in_middle("/orders", 1) == "…");
  BOOST_TEST(cut_in_middle("/orders", 0) == "");
  BOOST_TEST(cut_in_middle("日本語の名前", 6) == "日…前");
  BOOST_TEST(cut_in_middle("", 0) == "");
}

BOOST_AUTO_TEST_CASE(a_line_that_is_typed_keeps_its_end) {
  BOOST_TEST(cut_at_begin("/billing_", 20) == "/billing_");
  BOOST_TEST(cut_at_begin("/billing_", 5) == "…ing_");
}

BOOST_AUTO_TEST_CASE(lines_break_at_spaces_or_where_they_must) {
  using lines = std::vector<std::string>;
  BOOST_TEST((wrapped("", 10) == lines{""}));
  BOOST_TEST((wrapped("one two three", 7) == lines{"one two", "three"}));
  BOOST_TEST((wrapped("one  two", 3) == lines{"one", "two"}));
  BOOST_TEST((wrapped("one  two", 5) == lines{"one", "two"}));
  BOOST_TEST((wrapped(" abcdef", 3) == lines{" ab", "cde", "f"}));
  BOOST_TEST((wrapped("abcdefgh", 3) == lines{"abc", "def", "gh"}));
  BOOST_TEST((wrapped("日本語", 1) == lines{"日", "本", "語"}));
  BOOST_TEST((wrapped("a\x1b[31mb", 80) == lines{"a\xef\xbf\xbd[31mb"}));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(text)

BOOST_AUTO_TEST_CASE(plain_text_stays) {
  BOOST_TEST(printable("") == "");
  BOOST_TEST(printable("worker-1 äöü 日本 \U0001F600") == "worker-1 äöü 日本 \U0001F600");
}

BOOST_AUTO_TEST_CASE(what_moves_the_cursor_is_replaced) {
  BOOST_TEST(printable("a\nb\tc\x1b[2J\x7f\x9b") == "a�b�c�[2J��");
  BOOST_TEST(printable("\u202Ereversed\u200B\uFEFFe\u0301") == "�reversed��e�");
}

BOOST_AUTO_TEST_CASE(malformed_bytes_are_replaced_one_by_one) {
  BOOST_TEST(printable("\xff\xfe") == "��");
  BOOST_TEST(printable("\xc3") == "�");                 // cut off
  BOOST_TEST(printable("\xc0\xaf") == "��");            // overlong
  BOOST_TEST(printable("\xed\xa0\x80") == "���");       // a surrogate
  BOOST_TEST(printable("\xf4\x90\x80\x80") == "����");  // beyond Unicode
}

BOOST_AUTO_TEST_CASE(well_formed_keeps_what_is_only_hard_to_show) {
  BOOST_TEST(well_formed("e\u0301\x1b\xff") == "e\u0301\x1b�");
}

BOOST_AUTO_TEST_CASE(wide_characters_take_two_places) {
  BOOST_TEST(places("abc") == 3);
  BOOST_TEST(places("日本") == 4);
  BOOST_TEST(places("\x1b") == 1);
}

BOOST_AUTO_TEST_CASE(durations) {
  BOOST_TEST(short_duration(-5ms) == "0 ms");
  BOOST_TEST(short_duration(350ms) == "350 ms");
  BOOST_TEST(short_duration(1299ms) == "1.2 s");
  BOOST_TEST(short_duration(42'900ms) == "42 s");
  BOOST_TEST(short_duration(65s) == "1m 05s");
  BOOST_TEST(short_duration(2h + 3min + 4s) == "2h 03m");
}

BOOST_AUTO_TEST_CASE(long_texts_are_cut_between_characters) {
  BOOST_TEST(shortened("abc", 3) == "abc");
  BOOST_TEST(shortened("abcd", 3) == "abc... (4 bytes)");
  BOOST_TEST(shortened("a\xc3\xa9z", 2) == "a... (4 bytes)");
  BOOST_TEST(shortened(std::string(70'000, '\x80'), 256).size() < 300u);
  BOOST_TEST(shortened(std::string(70'000, '\x80'), 256).size() > 250u);
}

BOOST_AUTO_TEST_SUITE_END()
