// When a consumer to whom nothing is delivered is taken for forgotten.
#include <chrono>

#include <boost/test/unit_test.hpp>

#include "rabbitmq/queue_reader.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace std::chrono_literals;

namespace {

constexpr lease_clock::time_point stalls_begin{1h};

lease_clock::time_point at(lease_clock::duration later) { return stalls_begin + later; }

}  // namespace

BOOST_AUTO_TEST_SUITE(rabbit_stalls)

BOOST_AUTO_TEST_CASE(it_is_looked_at_when_nothing_has_happened_for_a_while) {
  stall_watch watch(5s);
  watch.on_event(at(0s));
  BOOST_TEST((watch.next_look() == at(5s)));
  watch.on_event(at(3s));
  BOOST_TEST((watch.next_look() == at(8s)));
  watch.on_look(at(9s), false);
  BOOST_TEST((watch.next_look() == at(14s)));
}

BOOST_AUTO_TEST_CASE(two_looks_in_a_row_that_find_messages_are_a_stall) {
  stall_watch watch(5s);
  watch.on_event(at(0s));
  watch.on_look(at(5s), true);
  BOOST_TEST(!watch.is_stalled());
  BOOST_TEST((watch.next_look() == at(10s)));
  watch.on_look(at(10s), true);
  BOOST_TEST(watch.is_stalled());
}

BOOST_AUTO_TEST_CASE(an_empty_queue_is_none) {
  stall_watch watch(5s);
  watch.on_event(at(0s));
  for (int i = 1; i < 10; ++i) watch.on_look(at(5s * i), i % 2 == 0);
  BOOST_TEST(!watch.is_stalled());
}

BOOST_AUTO_TEST_CASE(what_is_delivered_between_the_looks_ends_the_suspicion) {
  stall_watch watch(5s);
  watch.on_event(at(0s));
  watch.on_look(at(5s), true);
  watch.on_event(at(6s));
  watch.on_look(at(11s), true);
  BOOST_TEST(!watch.is_stalled());
  watch.on_look(at(16s), true);
  BOOST_TEST(watch.is_stalled());
  watch.on_event(at(17s));
  BOOST_TEST(!watch.is_stalled());
}

BOOST_AUTO_TEST_SUITE_END()
