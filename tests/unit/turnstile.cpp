// Only so many at the same time.
#include "session/turnstile.hpp"

#include "session/operation.hpp"
#include "support/fake_world.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace zkrecipes::test;

namespace {

struct visitor {
  asio::cancellation_signal signal;
  std::optional<turnstile::pass> inside;  ///< No pass in it: turned away.

  bool is_in() const { return inside && *inside; }
  bool was_turned_away() const { return inside && !*inside; }
};

struct turnstile_case : fake_bench {
  scheduler_ptr scheduler = make_scheduler();
  turnstile gate{1};
  visitor one, two, three;

  static awaitable<void> body(turnstile& gate, scheduler_ptr on, visitor& who) {
    co_await accept_cancellation();
    auto pass = co_await gate.enter(std::move(on));
    who.inside.emplace(std::move(pass));
  }
  void come(visitor& who) {
    asio::co_spawn(scheduler->strand, body(gate, scheduler, who),
                   asio::bind_cancellation_slot(who.signal.slot(), [](std::exception_ptr) {}));
    settle();
  }
  void go(visitor& who) {
    who.inside.reset();
    settle();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(turnstiles, turnstile_case)

BOOST_AUTO_TEST_CASE(who_comes_first_is_let_through_first) {
  come(one);
  come(two);
  come(three);
  BOOST_TEST(one.is_in());
  BOOST_TEST(!two.is_in());
  go(one);
  BOOST_TEST(two.is_in());
  BOOST_TEST(!three.is_in());
  go(two);
  BOOST_TEST(three.is_in());
  go(three);
  come(one);
  BOOST_TEST(one.is_in(), "as at the beginning");
}

BOOST_AUTO_TEST_CASE(who_is_cancelled_keeps_nobody) {
  come(one);
  come(two);
  come(three);
  two.signal.emit(asio::cancellation_type::total);
  settle();
  BOOST_TEST(two.was_turned_away());
  go(one);
  BOOST_TEST(three.is_in());
}

BOOST_AUTO_TEST_CASE(who_is_cancelled_when_its_turn_has_come_is_in) {
  come(one);
  come(two);
  one.inside.reset();
  two.signal.emit(asio::cancellation_type::total);
  settle();
  BOOST_TEST(two.is_in(), "a pass that is given is not lost");
  go(two);
  come(three);
  BOOST_TEST(three.is_in());
}

BOOST_AUTO_TEST_SUITE_END()
