// Requests to give an ownership up.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/lock.hpp>

#include "line/member_data.hpp"
#include "unit/in_line.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(lines, in_line)

BOOST_AUTO_TEST_CASE(a_request_to_give_up_is_told) {
  create(7);
  list({own});
  own_node_is_there();
  auto revoked = record<>();
  campaign.result<0>().async_revoked(revoked.token());
  settle();
  ask("{\"id\":\"me\",\"revoke\":true}");
  BOOST_TEST_REQUIRE(revoked.done());
  BOOST_TEST((revoked.error() == errc::revoked));
  live(1h);
  BOOST_TEST(!campaign.result<0>().error());
}

BOOST_AUTO_TEST_CASE(of_several_requests_the_one_that_ends_first_counts) {
  create(7);
  list({own});
  own_node_is_there();
  auto lost = record<>();
  campaign.result<0>().async_lost(lost.token());
  settle();
  ask("{\"revoke\":true}");
  live(10s);
  ask("{\"revoke\":true,\"grace_ms\":5000}");
  live(1s);
  ask("{\"revoke\":true,\"grace_ms\":60000}");
  ask("{\"revoke\":true}");
  live(4s - 1ns);
  BOOST_TEST(!lost.done());
  live(1ns);
  BOOST_TEST_REQUIRE(lost.done());
  BOOST_TEST((lost.error() == errc::revoked));
  BOOST_TEST(is_loss(lost.error()));
  CHECK_PENDING("remove /e/" + own);
}

BOOST_AUTO_TEST_CASE(a_holder_that_does_not_say_that_it_reads_requests_is_not_asked) {
  create(7);
  list({own});
  own_node_is_there();
  lock theirs(zk, "/l");
  for (const std::string data : {"10.1.1.0", "", "{\"id\":\"me\"}", "{\"revocable\":1}", "__REVOKE__", "{", "\xff"}) {
    auto asking = record<>();
    theirs.async_request_revocation(1s, asking.token());
    settle();
    CHECK_PENDING("multi /", "children /l");
    answer();
    list({"x-lock-0000000001"});
    CHECK_PENDING("get /l/x-lock-0000000001");
    backend::reply found;
    found.data = data;
    answer(found);
    CHECK_PENDING();
    BOOST_TEST_REQUIRE(asking.done());
    BOOST_TEST((asking.error() == errc::foreign_data), asking.error().message());
  }
}

BOOST_AUTO_TEST_CASE(one_that_does_is_asked_under_the_version_that_was_read) {
  create(7);
  list({own});
  own_node_is_there();
  lock theirs(zk, "/l");
  auto asking = record<>();
  theirs.async_request_revocation(500ms, asking.token());
  settle();
  answer();
  list({"x-lock-0000000001"});
  backend::reply found;
  found.data = detail::revocable_data("them");
  found.stat.version = 3;
  answer(found);
  CHECK_PENDING("set /l/x-lock-0000000001");
  const auto written = answer();
  BOOST_TEST(written.data ==
             "{\"zkrecipes\":\"member\",\"id\":\"them\",\"revocable\":true,\"revoke\":true,\"grace_ms\":500}");
  BOOST_TEST(written.version == 3);
  BOOST_TEST_REQUIRE(asking.done());
  BOOST_TEST(!asking.error());
}

// The owner may read only the last of several requests, so a later request must not hide an earlier one's shorter
// grace.
BOOST_AUTO_TEST_CASE(a_later_request_does_not_lengthen_the_grace_of_an_earlier_one) {
  const auto asked = detail::with_revocation("me", 500ms);
  for (const auto later : {std::chrono::milliseconds(501), std::chrono::milliseconds(10s), detail::any_grace}) {
    BOOST_TEST((detail::grace_of(detail::with_revocation(asked, later)) == 500ms));
  }
  BOOST_TEST((detail::grace_of(detail::with_revocation(asked, 100ms)) == 100ms));
  const auto without_end = detail::with_revocation("me");
  BOOST_TEST((detail::grace_of(detail::with_revocation(without_end, 500ms)) == 500ms));
  BOOST_TEST((detail::grace_of(detail::with_revocation("{\"id\":\"me\",\"grace_ms\":5}", 500ms)) == 500ms),
             "no request");
}

BOOST_AUTO_TEST_CASE(a_request_that_is_read_again_gives_no_more_time) {
  create(7);
  list({own});
  own_node_is_there();
  ask("{\"revoke\":true,\"grace_ms\":5000}");
  live(3s);
  reconnect();
  backend::reply asked;
  asked.data = "{\"revoke\":true,\"grace_ms\":5000}";
  answer(asked);
  live(2s - 1ns);
  BOOST_TEST(!campaign.result<0>().error());
  live(1ns);
  BOOST_TEST((campaign.result<0>().error() == errc::revoked));
}

BOOST_AUTO_TEST_CASE(a_grace_may_be_as_long_as_one_likes) {
  create(7);
  list({own});
  own_node_is_there();
  ask("{\"revoke\":true,\"grace_ms\":9223372036854775806}");
  ask("{\"revoke\":true,\"grace_ms\":7200000}");
  live(2h - 1ns);
  BOOST_TEST(!campaign.result<0>().error());
  live(1ns);
  BOOST_TEST((campaign.result<0>().error() == errc::revoked));
}

BOOST_AUTO_TEST_SUITE_END()
