// Requests: how long they wait for a connection, and how they end without an answer.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/barrier.hpp>
#include <zkrecipes/lock.hpp>

#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_AUTO_TEST_SUITE(session_requests)

BOOST_FIXTURE_TEST_CASE(a_write_waits_for_a_connection_to_be_sent_first, fake_session) {
  auto removing = record<>();
  zk.async_remove("/a", any_version, removing.token());
  settle();
  connect();
  answer();
  BOOST_TEST_REQUIRE(removing.done());
  BOOST_TEST(!removing.error());
}

BOOST_AUTO_TEST_CASE(an_operation_waits_for_a_connection_up_to_the_limit) {
  auto options = fake_session::usual();
  options.retry.limit = 7s;
  fake_session it(options);
  auto reading = it.record<node_data>();
  auto ensuring = it.record<>();
  it.zk.async_get("/a", reading.token());
  it.zk.async_ensure_path("/a/b", ensuring.token());
  it.advance(7s - 1ms);
  BOOST_TEST(!reading.done());
  BOOST_TEST(!ensuring.done());
  it.advance(1ms);
  BOOST_TEST_REQUIRE((reading.done() && ensuring.done()));
  BOOST_TEST((reading.error() == errc::connection_loss));
  BOOST_TEST((ensuring.error() == errc::connection_loss));
}

BOOST_AUTO_TEST_CASE(a_loss_says_whether_anything_was_sent) {
  auto options = fake_session::usual();
  options.retry.limit = 7s;
  fake_session it(options);
  const auto says = [](const auto& ended, std::string_view words) {
    BOOST_TEST_REQUIRE(ended.done());
    BOOST_TEST((ended.error() == errc::connection_loss));
    BOOST_TEST((ended.error().message().find(words) != std::string::npos), ended.error().message());
  };
  auto writing = it.record<node_stat>();
  auto acquiring = it.record<ownership>();
  lock first(it.zk, "/l");
  it.zk.async_set("/a", "x", any_version, writing.token());
  first.async_acquire(acquiring.token());
  it.advance(8s);
  says(writing, "nothing was sent");
  says(acquiring, "nothing was sent");
  it.connect();
  auto reading = it.record<node_data>();
  auto in_flight = it.record<node_stat>();
  it.zk.async_get("/a", reading.token());
  it.zk.async_set("/a", "x", any_version, in_flight.token());
  it.settle();
  it.lose();
  says(in_flight, "may have happened");
  it.advance(8s);
  says(reading, "the connection to the server was lost");
  auto late = it.record<ownership>();
  lock second(it.zk, "/m");
  it.connect();
  second.async_acquire(late.token());
  it.settle();
  it.lose();
  it.advance(8s);
  says(late, "may have happened");
}

BOOST_AUTO_TEST_CASE(without_a_limit_it_waits_for_as_long_as_the_session_lives) {
  auto options = fake_session::usual();
  options.retry.limit = 0ms;
  fake_session it(options);
  auto reading = it.record<node_data>();
  it.zk.async_get("/a", reading.token());
  it.advance(10min);
  BOOST_TEST(!reading.done());
}

// Each connection answers the sync and then breaks. No single wait reaches the limit, but all together do.
BOOST_AUTO_TEST_CASE(the_limit_is_for_all_tries_together) {
  auto options = fake_session::usual();
  options.retry.limit = 7s;
  fake_session it(options);
  auto reading = it.record<node_data>();
  auto ensuring = it.record<>();
  it.zk.async_get("/a", reading.token());
  it.zk.async_ensure_path("/a/b", ensuring.token());
  for (int i = 0; i < 10; ++i) {
    it.advance(1s);
    it.connect();
    it.lose();
  }
  it.advance(1s);
  BOOST_TEST_REQUIRE(reading.done());
  BOOST_TEST((reading.error() == errc::connection_loss));
  BOOST_TEST_REQUIRE(ensuring.done());
  BOOST_TEST((ensuring.error() == errc::connection_loss));
}

BOOST_FIXTURE_TEST_CASE(what_is_in_flight_when_the_session_is_closed_completes_with_closed, fake_session) {
  connect();
  auto reading = record<node_data>();
  auto setting = record<node_stat>();
  auto waiting = record<node_data>();
  zk.async_get("/a", reading.token());
  zk.async_set("/a", "", any_version, setting.token());
  zk.async_data_change("/a", 0, waiting.token());
  settle();
  auto closing = record<>();
  zk.async_close(closing.token());
  settle();
  lose(errc::closed);
  BOOST_TEST_REQUIRE((reading.done() && setting.done() && waiting.done()));
  BOOST_TEST((reading.error() == errc::closed), reading.error().message());
  BOOST_TEST((setting.error() == errc::closed), setting.error().message());
  BOOST_TEST((waiting.error() == errc::closed), waiting.error().message());
}

BOOST_FIXTURE_TEST_CASE(what_no_server_answers_any_more_completes_with_closed_too, fake_session) {
  connect();
  auto setting = record<node_stat>();
  zk.async_set("/a", "", any_version, setting.token());
  auto closing = record<>();
  zk.async_close(closing.token());
  advance(10s);
  BOOST_TEST_REQUIRE(setting.done());
  BOOST_TEST((setting.error() == errc::closed));
}

BOOST_FIXTURE_TEST_CASE(malformed_arguments_are_not_sent, fake_session) {
  connect();
  auto reading = record<node_data>();
  auto committing = record<std::vector<operation_result>>();
  auto container = record<std::vector<operation_result>>();
  auto ensuring = record<>();
  auto ensuring_nothing = record<>();
  zk.async_ensure_path("", ensuring_nothing.token());
  zk.async_get("a", reading.token());
  zk.async_commit(transaction().check("/a").remove("/b/"), committing.token());
  zk.async_commit(transaction().create("/a", "", create_mode::container), container.token());
  zk.async_ensure_path("/a//b", ensuring.token());
  settle();
  BOOST_TEST(pending().empty());
  BOOST_TEST((reading.error() == errc::bad_arguments));
  BOOST_TEST((committing.error() == errc::bad_arguments));
  BOOST_TEST((container.error() == errc::bad_arguments));
  BOOST_TEST((ensuring.error() == errc::bad_arguments));
  BOOST_TEST((ensuring_nothing.error() == errc::bad_arguments));
}

BOOST_AUTO_TEST_CASE(a_signal_may_outlive_the_operation_and_the_context) {
  asio::cancellation_signal late;
  asio::cancellation_signal never;
  {
    fake_session it;
    it.connect();
    int calls = 0;
    it.zk.async_get("/a", asio::bind_cancellation_slot(late.slot(), [&](error_code, node_data) { ++calls; }));
    it.settle();
    it.answer();
    BOOST_TEST(calls == 1);
    late.emit(asio::cancellation_type::total);
    it.settle();
    BOOST_TEST(calls == 1);
    it.zk.async_get("/a", asio::bind_cancellation_slot(never.slot(), [&](error_code, node_data) { ++calls; }));
    it.settle();
  }
  late.emit(asio::cancellation_type::total);
  never.emit(asio::cancellation_type::total);
}

BOOST_AUTO_TEST_CASE(what_no_server_takes_is_refused_and_costs_no_connection) {
  auto options = fake_session::usual();
  options.jute_maxbuffer = 2000;
  fake_session it(options);
  it.connect();
  auto setting = it.record<node_stat>();
  auto committing = it.record<std::vector<operation_result>>();
  it.zk.async_set("/a", std::string(2000, 'x'), any_version, setting.token());
  it.zk.async_commit(transaction().set("/a", std::string(1000, 'x')).create("/b", std::string(1000, 'x')),
                     committing.token());
  it.settle();
  BOOST_TEST_REQUIRE((setting.done() && committing.done()));
  BOOST_TEST((setting.error() == errc::too_large));
  BOOST_TEST((committing.error() == errc::too_large));
  CHECK_PENDING_OF(it);
  auto fine = it.record<node_stat>();
  it.zk.async_set("/a", std::string(1900, 'x'), any_version, fine.token());
  it.settle();
  CHECK_PENDING_OF(it, "set /a");
}

BOOST_AUTO_TEST_CASE(a_path_that_is_none_is_named_in_the_log_with_what_is_wrong_with_it) {
  strings told;
  auto options = fake_session::usual();
  options.log = [&](const log_event& each) {
    if (each.event == session_event::operation_failed) told.push_back(to_string(each));
  };
  fake_session it(options);
  it.connect();
  auto committing = it.record<std::vector<operation_result>>();
  it.zk.async_commit(transaction().create("/good").create("bad"), committing.token());
  it.settle();
  BOOST_TEST((committing.error() == errc::bad_arguments));
  const strings expected{
      "operation_failed multi bad: malformed path or argument, or one that is too long (nothing was sent: a path must "
      "begin with '/')"};
  BOOST_TEST((told == expected), told.back());
}

BOOST_FIXTURE_TEST_CASE(an_empty_transaction_succeeds_unsent_and_not_on_a_closed_session, fake_session) {
  auto early = record<std::vector<operation_result>>();
  zk.async_commit(transaction(), early.token());
  settle();
  BOOST_TEST_REQUIRE(early.done());
  BOOST_TEST(!early.error());
  auto closing = record<>();
  zk.async_close(closing.token());
  settle();
  BOOST_TEST(closing.done());
  auto late = record<std::vector<operation_result>>();
  zk.async_commit(transaction(), late.token());
  settle();
  BOOST_TEST_REQUIRE(late.done());
  BOOST_TEST((late.error() == errc::closed));
}

BOOST_AUTO_TEST_SUITE_END()
