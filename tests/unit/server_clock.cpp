// The leader's clock, as the time stamps of its writes show it.
#include <memory>

#include <boost/asio/co_spawn.hpp>

#include "queue/queue_layout.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace zkrecipes::test;

namespace {

struct clock_case : fake_session {
  clock_case() {
    connect();
    frame = std::make_shared<queue_frame>(
        queue_frame{zk.get_core(), queue_layout(queue_kind::delayed, "/q"), queue_options()});
    leader = std::make_unique<server_clock>(frame);
  }
  /// The stamp of a round trip that takes no time: it gives the leader's clock to the millisecond.
  void stamp(std::int64_t shown) { leader->observe(shown, now(), now()); }
  /// Runs `learn`; the result is set as soon as `learn` has ended.
  std::shared_ptr<std::optional<error_code>> learn() {
    auto told = std::make_shared<std::optional<error_code>>();
    asio::co_spawn(io(), leader->learn(), [told](std::exception_ptr, error_code error) { *told = error; });
    settle();
    return told;
  }
  void answer_stamped(std::int64_t shown) { answer_with({.stat = {.mtime = shown}}); }

  shared_frame frame;
  std::unique_ptr<server_clock> leader;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(server_clocks, clock_case)

BOOST_AUTO_TEST_CASE(it_is_known_to_within_the_round_trip) {
  auto told = learn();
  CHECK_PENDING("set /q/_clock");
  advance(20ms);
  answer_stamped(1000);
  BOOST_TEST_REQUIRE(told->has_value());
  BOOST_TEST(!**told);
  BOOST_TEST(leader->earliest() == 1000);
  BOOST_TEST(leader->latest() == 1020);
  advance(5ms);
  BOOST_TEST(leader->earliest() == 1005);
  BOOST_TEST(leader->latest() == 1025);
  BOOST_TEST((leader->when(1010) == now() + 5ms));
  BOOST_TEST((leader->when(990) == now() - 5ms), "it has been there");
}

BOOST_AUTO_TEST_CASE(it_is_not_asked_again_soon_nor_believed_for_ever) {
  stamp(1000);
  BOOST_TEST(learn()->has_value());
  CHECK_PENDING();
  advance(1min);
  BOOST_TEST(!leader->is_known());
  auto again = learn();
  CHECK_PENDING("set /q/_clock");
  answer_stamped(61'000);
  BOOST_TEST(again->has_value());
  BOOST_TEST((leader->when(1'000'000) == now() + 1min), "no later than it has to be asked again");
}

BOOST_AUTO_TEST_CASE(another_connection_may_have_another_leader) {
  stamp(1000);
  lose();
  BOOST_TEST(leader->is_known());
  connect();
  BOOST_TEST(!leader->is_known());
}

// Otherwise a client whose clock runs faster than the leader's would claim too early each time, hear that, and lose its
// turn to another taker.
BOOST_AUTO_TEST_CASE(that_our_clock_is_faster_shows_from_stamp_to_stamp) {
  stamp(0);
  advance(10s);
  stamp(9899);
  advance(10s);
  BOOST_TEST(leader->earliest() == 9899 + 9900);
  BOOST_TEST(leader->latest() == 19'899, "somebody may just have set it right");
  BOOST_TEST((leader->when(9899 + 9901) > now()));
}

BOOST_AUTO_TEST_CASE(a_clock_that_was_set_slows_nobody_by_much) {
  stamp(1'000'000);
  advance(10s);
  stamp(5);
  advance(10s);
  BOOST_TEST(leader->earliest() == 9805);
  stamp(1'000'000);
  advance(10s);
  BOOST_TEST(leader->earliest() == 1'010'000, "and nobody goes before time passes");
}

BOOST_AUTO_TEST_CASE(the_pace_of_one_leader_says_nothing_of_the_next) {
  stamp(0);
  advance(10s);
  lose();
  connect();
  stamp(9899);
  advance(10s);
  BOOST_TEST(leader->earliest() == 19'899);
}

BOOST_AUTO_TEST_CASE(a_lost_reply_is_asked_for_again) {
  auto told = learn();
  lose();
  connect();
  CHECK_PENDING("set /q/_clock");
  BOOST_TEST(!told->has_value());
  answer_stamped(1000);
  BOOST_TEST_REQUIRE(told->has_value());
  BOOST_TEST(!**told);
}

BOOST_AUTO_TEST_CASE(a_node_that_is_not_there_is_made) {
  auto told = learn();
  fail(errc::no_node);
  CHECK_PENDING("create /q", "create /q/_clock");
  answer();
  answer();
  CHECK_PENDING("set /q/_clock");
  answer_stamped(1000);
  BOOST_TEST_REQUIRE(told->has_value());
  BOOST_TEST(!**told);
}

BOOST_AUTO_TEST_CASE(what_can_not_be_written_is_told) {
  auto told = learn();
  fail(errc::no_auth);
  BOOST_TEST_REQUIRE(told->has_value());
  BOOST_TEST((**told == errc::no_auth));
  BOOST_TEST(!leader->is_known());
}

BOOST_AUTO_TEST_CASE(the_end_of_the_session_object_is_told) {
  auto told = learn();
  recorder<> closing(io().get_executor());
  zk.async_close(closing.token());
  settle();
  lose(errc::closed);
  settle();
  BOOST_TEST_REQUIRE(told->has_value());
  BOOST_TEST((**told == errc::closed));
}

BOOST_AUTO_TEST_SUITE_END()
