#include "commands/reading_pace.hpp"

#include <boost/test/unit_test.hpp>

using namespace zkadmin;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(pace_of_reading)

BOOST_AUTO_TEST_CASE(reading_takes_a_tenth_of_the_time_at_most) {
  const reading_pace::clock::time_point start{1h};
  reading_pace pace(1s);
  BOOST_TEST(pace.is_due(start, false, 0));
  pace.read(start, start + 3s, 0);
  BOOST_TEST(!pace.is_due(start + 32s, true, 0));
  BOOST_TEST(pace.is_due(start + 33s, true, 0));
  BOOST_TEST(pace.is_due(start + 33s, false, 0));
}

BOOST_AUTO_TEST_CASE(what_is_not_on_the_screen_is_read_twice_a_minute) {
  const reading_pace::clock::time_point start{1h};
  reading_pace pace(1s);
  pace.read(start, start + 1ms, 0);
  BOOST_TEST(pace.is_due(start + 2s, true, 0));
  BOOST_TEST(!pace.is_due(start + 29s, false, 0));
  BOOST_TEST(pace.is_due(start + 31s, false, 0));
}

BOOST_AUTO_TEST_CASE(a_refresh_reads_at_once) {
  const reading_pace::clock::time_point start{1h};
  reading_pace pace(1s);
  pace.read(start, start + 1min, 4);
  BOOST_TEST(!pace.is_due(start + 61s, true, 4));
  BOOST_TEST(pace.is_due(start + 61s, true, 5));
}

BOOST_AUTO_TEST_SUITE_END()
