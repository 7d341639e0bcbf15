// An item that is given back in place: what its taker is told, and that its claim goes in any case.
#include <cstddef>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/queue.hpp>

#include "unit/settling.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct returning : settling {
  recorder<> give_back() {
    auto made = record<>();
    line.async_return(item, made.token());
    settle();
    BOOST_TEST_REQUIRE(!pending().empty());
    BOOST_TEST(pending().front() == "remove " + claim);
    return made;
  }
  /// Answers what is asked in the background to see whether the claim is still there: it is not.
  void lose_claim_in_background() {
    std::size_t looks = 0;
    for (; !pending().empty(); fail(errc::no_node)) looks += pending().front() == "get " + claim ? 1 : 0;
    BOOST_TEST(looks == 1u);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(queue_returns, returning)

BOOST_AUTO_TEST_CASE(a_return_in_place_completes_when_the_claim_has_gone) {
  auto returned = give_back();
  BOOST_TEST(!returned.done());
  answer();
  BOOST_TEST_REQUIRE(returned.done());
  BOOST_TEST(!returned.error(), returned.error().message());
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_return_in_place_whose_wait_is_cancelled_is_told_so_and_done_all_the_same) {
  auto returned = give_back();
  returned.cancel();
  settle();
  BOOST_TEST_REQUIRE(returned.done());
  BOOST_TEST((returned.error() == asio::error::operation_aborted), returned.error().message());
  lose_claim_in_background();
}

BOOST_AUTO_TEST_CASE(a_return_in_place_goes_on_in_the_background_after_a_lost_reply) {
  auto returned = give_back();
  reconnect();
  BOOST_TEST_REQUIRE(returned.done());
  BOOST_TEST(!returned.error(), returned.error().message());
  lose_claim_in_background();
}

BOOST_AUTO_TEST_CASE(a_return_in_place_is_told_that_the_claim_went_before) {
  auto returned = give_back();
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(returned.done());
  BOOST_TEST((returned.error() == errc::superseded), returned.error().message());
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_return_in_place_that_the_server_refuses_is_told_so) {
  auto returned = give_back();
  fail(errc::no_auth);
  BOOST_TEST_REQUIRE(returned.done());
  BOOST_TEST((returned.error() == errc::no_auth), returned.error().message());
}

BOOST_AUTO_TEST_CASE(a_return_in_place_whose_session_is_closed_is_told_that) {
  auto returned = give_back();
  auto closing = record<>();
  zk.async_close(closing.token());
  settle();
  lose(errc::closed);
  BOOST_TEST_REQUIRE(returned.done());
  BOOST_TEST((returned.error() == errc::closed), returned.error().message());
}

BOOST_AUTO_TEST_SUITE_END()
