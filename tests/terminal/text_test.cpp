#include "base/text.hpp"

#include <boost/test/unit_test.hpp>

using namespace zkadmin;
using namespace std::chrono_literals;

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
