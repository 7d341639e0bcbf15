// Which errors end a run that goes on by itself.
#include "election/term_record.hpp"
#include "session/outcomes.hpp"
#include "unit/coordinating.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_AUTO_TEST_SUITE(mending)

BOOST_AUTO_TEST_CASE(each_error_passes_by_or_is_mended_by_people_or_ends_the_run) {
  for (const auto each : {errc::connection_loss, errc::session_expired, errc::lease_lapsed, errc::node_removed,
                          errc::revoked, errc::server_error}) {
    BOOST_TEST(detail::mends(make_error_code(each), false), make_error_code(each).message());
  }
  for (const auto each : {errc::no_auth, errc::no_node, errc::no_children_for_ephemerals, errc::invalid_acl}) {
    BOOST_TEST(!detail::mends(make_error_code(each), false), make_error_code(each).message());
    BOOST_TEST(detail::mends(make_error_code(each), true), make_error_code(each).message());
  }
  for (const auto each : {errc::closed, errc::auth_failed, errc::foreign_data, errc::size_mismatch, errc::too_large,
                          errc::sequence_exhausted, errc::bad_arguments}) {
    BOOST_TEST(!detail::mends(make_error_code(each), true), make_error_code(each).message());
  }
  BOOST_TEST(detail::mends({}, false));
  BOOST_TEST(!detail::mends(asio::error::operation_aborted, true));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(coordinator_refusals, working)

BOOST_AUTO_TEST_CASE(a_coordinator_that_was_in_line_waits_for_its_rights_and_tells_it) {
  for (int i = 0; i < 2; ++i) {  // as the record is known, and once more when it was read
    serve_until("multi /");
    fail(errc::no_auth);
    settle();
  }
  serve_until("");
  BOOST_TEST_REQUIRE(!running.done());
  BOOST_TEST((coordinator.status().trouble == errc::no_auth));
  const auto before = entries;
  advance(10s);
  serve_until("multi /");
  BOOST_TEST(entries > before);
  BOOST_TEST(!coordinator.status().trouble);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(coordinator_first_refusals, fake_session)

BOOST_AUTO_TEST_CASE(a_coordinator_that_was_never_in_line_ends_with_the_refusal) {
  connect();
  quiet_career career;
  consumer_coordinator mine(zk, "/e", {"me"});
  auto running = mine.async_run(career, begun());
  while (!last().pending.empty() && !running.done()) fail(errc::no_auth);
  BOOST_TEST_REQUIRE(ended_with(running, errc::no_auth));
}

BOOST_AUTO_TEST_SUITE_END()
