#include <boost/test/unit_test.hpp>

#include "terminal/table.hpp"

using namespace zkadmin;

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
