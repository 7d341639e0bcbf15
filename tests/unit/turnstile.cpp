// The turnstile, which lets only a given number in at the same time.
#include <algorithm>
#include <deque>
#include <optional>

#include <zkrecipes/lock.hpp>

#include "session/condition.hpp"
#include "session/operation.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace zkrecipes::test;

namespace {

struct visitor {
  asio::cancellation_signal signal;
  std::optional<turnstile::pass> inside;  ///< An empty pass: turned away.

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

namespace {

/// More acquisitions of a lock than may get in line at the same time.
struct crowd : fake_session {
  static constexpr std::size_t width = 256;

  crowd() {
    connect();
    zkrecipes::lock busy(zk, "/l");
    for (std::size_t i = 0; i < width + 2; ++i) {
      all.push_back(record<ownership>());
      busy.async_acquire(all.back().token());
    }
    settle();
  }
  std::ptrdiff_t creates() {
    auto names = pending();
    return std::count_if(names.begin(), names.end(), [](const auto& each) { return each.starts_with("create /l/"); });
  }
  std::ptrdiff_t ended(errc why) {
    return std::count_if(all.begin(), all.end(), [&](const auto& each) { return each.done() && each.error() == why; });
  }

  std::deque<recorder<ownership>> all;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(crowds, crowd)

BOOST_AUTO_TEST_CASE(so_many_get_in_line_at_a_time_and_the_next_follows_whoever_is_in) {
  BOOST_TEST(creates() == 256);
  fail(errc::no_auth);
  settle();
  BOOST_TEST(ended(errc::no_auth) == 0, "it still waits for the list");
  while (pending().front() != "children /l") fail(errc::no_auth);
  answer();  // the list, for which all 256 have waited
  settle();
  BOOST_TEST(ended(errc::no_auth) == 256);
  BOOST_TEST(creates() == 2);
}

BOOST_AUTO_TEST_CASE(who_waits_to_get_in_line_can_be_cancelled) {
  all.back().cancel();
  settle();
  BOOST_TEST(all.back().done());
  BOOST_TEST(all.back().error() == asio::error::operation_aborted);
  BOOST_TEST(creates() == 256, "and had sent nothing");
}

BOOST_AUTO_TEST_CASE(the_end_of_the_session_object_is_heard_by_all) {
  recorder<> closing(io().get_executor());
  zk.async_close(closing.token());
  settle();
  lose(errc::closed);
  settle();
  BOOST_TEST(ended(errc::closed) == 258);
}

BOOST_AUTO_TEST_CASE(all_of_them_go_with_their_context) {
  BOOST_TEST(creates() == 256);  // then all of them are destroyed with the context; LeakSanitizer finds what is left
}

BOOST_AUTO_TEST_SUITE_END()
