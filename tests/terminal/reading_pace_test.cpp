#include <boost/test/unit_test.hpp>

#include "cluster/live_readings.hpp"

using namespace zkadmin;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(pace_of_reading)

BOOST_AUTO_TEST_CASE(reading_takes_a_tenth_of_the_time_at_most) {
  const reading_pace::clock::time_point start{1h};
  reading_pace pace(1s);
  BOOST_TEST(pace.is_due(start, false));
  pace.read(start, start + 2s, 1);
  BOOST_TEST(!pace.is_due(start + 21s, true));
  BOOST_TEST(pace.is_due(start + 22s, true));
}

BOOST_AUTO_TEST_CASE(what_is_not_on_the_screen_is_read_twice_a_minute) {
  const reading_pace::clock::time_point start{1h};
  reading_pace pace(1s);
  pace.read(start, start + 1ms, 1);
  BOOST_TEST(pace.is_due(start + 2s, true));
  BOOST_TEST(!pace.is_due(start + 29s, false));
  BOOST_TEST(pace.is_due(start + 31s, false));
}

BOOST_AUTO_TEST_CASE(the_time_of_an_outage_does_not_count) {
  const reading_pace::clock::time_point start{1h};
  reading_pace pace(1s);
  pace.read(start, start + 10min, 1);
  BOOST_TEST(pace.is_due(start + 10min + 30s, true));
}

BOOST_AUTO_TEST_CASE(twenty_nodes_are_read_in_a_second) {
  const reading_pace::clock::time_point start{1h};
  reading_pace pace(1s);
  pace.read(start, start + 1ms, 100);
  BOOST_TEST(!pace.is_due(start + 5s, true));
  BOOST_TEST(pace.is_due(start + 5s + 1ms, true));
}

BOOST_AUTO_TEST_SUITE_END()
