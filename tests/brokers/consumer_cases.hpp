// Cases of consumers: a part of the suites redis_consumers and rabbit_consumers.

BOOST_AUTO_TEST_CASE(messages_are_consumed_in_order_and_once) {
  put_all(numbers(1, 300));
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(300));
  put_all(numbers(301, 351));
  BOOST_TEST_REQUIRE(has_results(351));
  BOOST_TEST(results() == numbers(1, 351), boost::test_tools::per_element());
  check_records(who, 351);
  end_consumers(351);
}

BOOST_AUTO_TEST_CASE(a_consumer_goes_on_where_the_one_before_it_was) {
  put_all(numbers(1, 10));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(10));
  end_runs(all);
  put_all(numbers(11, 20));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(20));
  BOOST_TEST(results() == numbers(1, 20), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_superseded_owner_can_not_change_what_is_stored) {
  put_all(numbers(1, 3));
  hold_point held(executor());
  auto& old = consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "2") co_await held.pass_in_the_end();
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return held.is_reached(); }));
  BOOST_TEST_REQUIRE(has_results(1));
  const auto before = stored();
  auto newer = get(election()).data;
  newer.replace(newer.find(R"("epoch":1)"), 9, R"("epoch":2)");
  BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_set(election(), newer, any_version, tuple))));
  held.open();
  BOOST_TEST_REQUIRE(run_until([&] { return !old.does.ends.empty(); }));
  BOOST_TEST((old.does.ends.front() == term_end::superseded));
  BOOST_TEST(stored() == before);
  run(zk().async_set(election(), "", any_version, tuple));  // the newer term, which nobody leads, is over
  BOOST_TEST_REQUIRE(has_results(3));
  BOOST_TEST(results() == numbers(1, 3), boost::test_tools::per_element());
  BOOST_TEST(stored() != before);
  BOOST_TEST(old.does.attempts["2"].size() == 2u);
}

BOOST_AUTO_TEST_CASE(replies_of_the_ensemble_that_are_lost_change_nothing) {
  options.window = 16;
  put_all(numbers(1, 200));
  consume(connect_far(), &succeed);
  for (std::size_t i = 1; i <= 4; ++i) {
    BOOST_TEST_REQUIRE(has_results(30 * i));
    own().drop_reply(testcluster::op::multi);
  }
  BOOST_TEST_REQUIRE(has_results(200));
  BOOST_TEST(results() == numbers(1, 200), boost::test_tools::per_element());
  end_consumers(200);
}
