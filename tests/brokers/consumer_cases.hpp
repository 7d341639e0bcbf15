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

BOOST_AUTO_TEST_CASE(a_message_that_throws_becomes_a_dead_letter) {
  put_all({"1"});
  const auto name = put_with_key("poison", "smith");
  put_all({"2"});
  auto& who = consume([](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "poison") throw std::runtime_error("it can not be read");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(has_results(2));
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().parked == 1; }));
  BOOST_TEST(results() == numbers(1, 2), boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(letters().size() == 1u);
  for (const auto& part :
       {std::string("poison"), std::string("it can not be read"), std::string("smith"), "0000/" + name}) {
    BOOST_TEST(letter().find(part) != std::string::npos, letter());
  }
  BOOST_TEST(who.does.attempts["poison"] == std::vector<std::int32_t>({1, 2, 3}), boost::test_tools::per_element());
  end_consumers(3);
}

BOOST_AUTO_TEST_CASE(by_key_only_the_key_that_fails_waits) {
  options.order = message_order::by_key;
  options.parallel = 8;
  options.retry.first = options.retry.longest = 1h;
  for (const auto* each : {"a1", "a2", "b1", "a3", "b2"}) put_with_key(each, std::string(each, 1));
  consume([](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "a1" && item.attempts == 1) co_return message_outcome::again(100ms, "not yet");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(has_results(5));
  BOOST_TEST(results() == std::vector<std::string>({"b1", "b2", "a1", "a2", "a3"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_was_settled_ahead_is_not_processed_again_by_the_next_term) {
  options.order = message_order::none;
  options.parallel = 8;
  options.retry.first = options.retry.longest = 1h;
  bool is_cured = false;  // two messages: three that fail before any other succeeds are an outage
  put_all(numbers(1, 40));
  auto& who = consume([&](term, message item) -> asio::awaitable<message_outcome> {
    const bool fails = item.data == "3" || item.data == "17";
    if (fails && !is_cured) co_return message_outcome::again("not yet");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().done == 38 && who.does.status().resting == 2; }));
  for (const auto* field : fields_of_settled_ahead) BOOST_TEST(stored().find(field) != std::string::npos, stored());
  is_cured = true;
  who.coordinator.resign();
  BOOST_TEST_REQUIRE(has_results(40));
  auto seen = results();
  std::ranges::sort(seen, {}, [](const std::string& each) { return std::stoi(each); });
  BOOST_TEST(seen == numbers(1, 40), boost::test_tools::per_element());
  for (const auto& each : numbers(1, 40)) {
    const bool failed = each == "3" || each == "17";
    const auto expected = failed ? std::vector<std::int32_t>{1, 2} : std::vector<std::int32_t>{1};
    BOOST_TEST(who.does.attempts[each] == expected, each);
  }
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
