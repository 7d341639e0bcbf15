// Objects without content: default-constructed, or moved from.
#include <future>

#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>

#include <zkrecipes/zkrecipes.hpp>

#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(nothing, fake_session)

BOOST_AUTO_TEST_CASE(whatever_the_completion_token) {
  auto awaited = run_coroutine(io(), ownership().async_lost(tuple));
  BOOST_TEST((std::get<0>(awaited) == errc::closed));

  auto noted = record<>();
  persistent_node().async_close(noted.token());
  BOOST_TEST(!noted.done());
  settle();
  BOOST_TEST((noted.error() == errc::closed));

  auto thrown = attendance().async_leave(asio::use_future);
  BOOST_CHECK_THROW(thrown.get(), boost::system::system_error);

  std::promise<error_code> plain;
  joined_member().async_leave([&](error_code error) { plain.set_value(error); });
  BOOST_TEST((plain.get_future().get() == errc::closed));

  std::promise<error_code> erased;
  asio::any_completion_handler<void(error_code)> handler = [&](error_code error) { erased.set_value(error); };
  multi_ownership().async_release(std::move(handler));
  BOOST_TEST((erased.get_future().get() == errc::closed));
}

BOOST_AUTO_TEST_CASE(what_it_tells_is_empty) {
  BOOST_TEST(ownership().path() == "");
  BOOST_TEST((attendance().error() == errc::closed));
  BOOST_TEST((persistent_node().status().error == errc::closed));
  BOOST_TEST(joined_member().path() == "");
  auto gone = std::move(zk);
  BOOST_TEST((zk.status().state == session_state::closed));
  BOOST_TEST((zk.valid_until() == lease_clock::time_point()));
  zk = std::move(gone);
  queue from(zk, "/q");
  auto other = std::move(from);
  BOOST_TEST(from.path() == "");
  BOOST_TEST(from.options().limit == 0u);
  consumer_coordinator idle(zk, "/c", {.id = "a"});
  auto moved = std::move(idle);
  idle.stop();
  idle.resign();
  BOOST_TEST((idle.failure() == nullptr));
}

BOOST_AUTO_TEST_CASE(a_recipe_on_a_session_that_was_moved_from_is_refused) {
  auto gone = std::move(zk);
  BOOST_CHECK_THROW(queue(zk, "/q"), std::invalid_argument);
  BOOST_CHECK_THROW(semaphore(zk, "/s", 1), std::invalid_argument);
  BOOST_CHECK_THROW(double_barrier(zk, "/b", 1), std::invalid_argument);
  BOOST_CHECK_THROW(counter(zk, "/c"), std::invalid_argument);
  BOOST_CHECK_THROW(children_view(zk, "/v"), std::invalid_argument);
  BOOST_CHECK_THROW(persistent_node(zk, "/n", ""), std::invalid_argument);
  BOOST_CHECK_THROW(consumer_coordinator(zk, "/e", {.id = "a"}), std::invalid_argument);
  zk = std::move(gone);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(plain_handlers, fake_session)

BOOST_AUTO_TEST_CASE(run_outside_the_strand) {
  connect();
  const auto strand = zk.get_core()->strand();
  const auto* real = strand.target<asio::strand<asio::io_context::executor_type>>();
  BOOST_TEST_REQUIRE(real);
  bool done = false;
  zk.async_connected([&](error_code) {
    done = true;
    BOOST_TEST(!real->running_in_this_thread());
  });
  settle();
  BOOST_TEST(done);
}

BOOST_AUTO_TEST_SUITE_END()
