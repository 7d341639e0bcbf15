// Conversion of durations between units.
#include <cmath>
#include <limits>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/lease_clock.hpp>

using namespace zkrecipes;
using namespace std::chrono_literals;

namespace {

using nanoseconds = std::chrono::nanoseconds;
using milliseconds = std::chrono::milliseconds;

template <class Unit, class Given>
bool is(Given given, Unit expected) {
  return Unit(time_span<Unit>(given)) == expected;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(time_spans)

BOOST_AUTO_TEST_CASE(what_fits_is_kept) {
  BOOST_TEST(is<nanoseconds>(5ms, 5'000'000ns));
  BOOST_TEST(is<nanoseconds>(-1h, -3600s));
  BOOST_TEST(is<milliseconds>(1500us, 1ms));
  BOOST_TEST(is<nanoseconds>(std::chrono::duration<double>(0.5), 500ms));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_becomes_the_bound) {
  BOOST_TEST(is<nanoseconds>(milliseconds::max(), nanoseconds::max()));
  BOOST_TEST(is<nanoseconds>(std::chrono::hours::max(), nanoseconds::max()));
  BOOST_TEST(is<nanoseconds>(std::chrono::years(1000), nanoseconds::max()));
  BOOST_TEST(is<nanoseconds>(nanoseconds::max(), nanoseconds::max()));
  BOOST_TEST(is<nanoseconds>(std::chrono::seconds::min(), nanoseconds::min()));
  BOOST_TEST(is<milliseconds>(std::chrono::hours::max(), milliseconds::max()));
  BOOST_TEST(is<nanoseconds>(std::chrono::duration<double>(1e300), nanoseconds::max()));
  BOOST_TEST(is<nanoseconds>(std::chrono::duration<double>(-INFINITY), nanoseconds::min()));
  BOOST_TEST(is<nanoseconds>(std::chrono::duration<double>(NAN), 0ns));
}

BOOST_AUTO_TEST_SUITE_END()
