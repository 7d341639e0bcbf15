// The limit of what waits for a connection.
#include <list>
#include <new>
#include <optional>

#include <boost/test/unit_test.hpp>

#include "session/operation.hpp"
#include "support/fake_world.hpp"
#include "unit/poor_world.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace zkrecipes::test;
using namespace std::chrono_literals;

namespace {

struct reach_case : fake_bench {
  struct operation {
    explicit operation(reach_limit& in) : waits(in, signal) {
      signal.slot().assign([this](asio::cancellation_type) { ended = true; });
    }
    asio::cancellation_signal signal;
    bool ended = false;
    reach_limit::waiting waits;
  };

  scheduler_ptr scheduler = make_scheduler();
  reach_limit limit{*scheduler->world, 30s};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(reach_limits, reach_case)

BOOST_AUTO_TEST_CASE(an_operation_that_has_no_memory_to_wait_is_not_ended_later) {
  poor_world poor(worlds()(scheduler->strand));
  poor.is_poor = true;
  reach_limit in_poor(poor, 30s);
  asio::cancellation_signal signal;
  bool is_ended = false;
  signal.slot().assign([&](asio::cancellation_type) { is_ended = true; });
  std::optional<reach_limit::waiting> failed;
  BOOST_CHECK_THROW(failed.emplace(in_poor, signal), std::bad_alloc);
  poor.is_poor = false;
  operation other(in_poor);
  advance(31s);
  BOOST_TEST(!is_ended);
  BOOST_TEST(other.ended);
}

BOOST_AUTO_TEST_CASE(counts_from_the_beginning_of_the_operation) {
  operation first(limit);
  advance(20s);
  operation second(limit);
  advance(11s);
  BOOST_TEST(first.ended);
  BOOST_TEST(first.waits.is_over());
  BOOST_TEST(!second.ended);
  advance(20s);
  BOOST_TEST(second.ended);
}

BOOST_AUTO_TEST_CASE(a_connection_stops_it_and_its_loss_begins_it_anew) {
  operation one(limit);
  advance(29s);
  limit.connected();
  advance(1h);
  limit.disconnected();
  advance(29s);
  limit.disconnected();  // still none
  BOOST_TEST(!one.ended);
  advance(2s);
  BOOST_TEST(one.ended);
}

BOOST_AUTO_TEST_CASE(those_that_have_ended_are_not_cancelled) {
  std::list<operation> all;
  for (int i = 0; i < 3; ++i) all.emplace_back(limit);
  all.pop_front();
  advance(31s);
  for (const auto& each : all) BOOST_TEST(each.ended);
}

BOOST_AUTO_TEST_CASE(the_timer_ends_with_the_last_operation) {
  {
    operation one(limit), another(limit);
    BOOST_TEST(state().timers.size() == 1u);
  }
  BOOST_TEST(state().timers.empty(), "a program that stops does not wait for it");
}

BOOST_AUTO_TEST_CASE(thousands_end_in_steps) {
  std::list<operation> all;
  for (int i = 0; i < 1'000; ++i) all.emplace_back(limit);
  advance(31s);
  for (const auto& each : all) BOOST_TEST(each.ended);
}

BOOST_AUTO_TEST_CASE(zero_is_no_limit) {
  reach_limit none(*scheduler->world, 0s);
  operation one(none);
  advance(24h);
  none.connected();
  none.disconnected();
  advance(24h);
  BOOST_TEST(!one.ended);
}

BOOST_AUTO_TEST_SUITE_END()
