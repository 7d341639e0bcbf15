// Cases of the ends of consumers: a part of the suites redis_endings and rabbit_endings.

BOOST_AUTO_TEST_CASE(a_run_that_waits_for_messages_can_be_stopped) {
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("connected " + broker_name); }));
  who.coordinator.stop();
  BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }, 5s));
  BOOST_TEST(!who.ended.error(), who.ended.error().message());
}

BOOST_AUTO_TEST_CASE(a_run_that_waits_for_a_broker_can_be_stopped) {
  with.hosts = "127.0.0.1:1";
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("connect_failed " + broker_name); }));
  who.coordinator.stop();
  BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }, 5s));
  BOOST_TEST(!who.ended.error(), who.ended.error().message());
}

BOOST_AUTO_TEST_CASE(a_run_that_is_cancelled_ends_and_what_it_had_in_hand_comes_again) {
  put_all(numbers(1, 3));
  hold_point held(executor());
  auto& who = consume([&](term, message) -> asio::awaitable<message_outcome> {
    co_await held.pass();
    co_return message_outcome::done();
  });
  BOOST_TEST_REQUIRE(run_until([&] { return held.is_reached(); }));
  who.ended.cancel(asio::cancellation_type::terminal);
  BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }));
  all.clear();
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(3));
  BOOST_TEST(results() == numbers(1, 3), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_session_that_is_closed_ends_the_run) {
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("connected " + broker_name); }));
  BOOST_TEST(!std::get<0>(run(who.zk.async_close(tuple))));
  BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }));
  BOOST_TEST((who.ended.error() == errc::closed), who.ended.error().message());
  check_departure();
  all.clear();
}
