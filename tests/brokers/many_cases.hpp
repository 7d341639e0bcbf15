// Cases of many producers, consumers, letters and shards, and of a server of ZooKeeper with many requests: a part of
// the suites redis_many and rabbit_many.

BOOST_AUTO_TEST_CASE(fifty_producers_of_one_session_put_at_once) {
  std::deque<producer_type> producers;
  std::deque<recorder<std::uint64_t>> calls;
  for (const auto& name : numbers(1, 50)) {
    messages some;
    for (const auto& each : numbers(1, 10)) some.push_back({name, name + ' ' + each});
    producers.push_back(producer_of(logged(), name));
    calls.emplace_back(executor());
    producers.back().async_put_all(std::move(some), calls.back().token());
  }
  for (auto& each : calls) {
    BOOST_TEST_REQUIRE(run_until([&] { return each.done(); }));
    check({each.error(), each.result<0>()}, {}, 10u);
  }
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(500));
  std::map<std::string, std::vector<std::string>> of;
  for (const auto& each : results()) of[each.substr(0, each.find(' '))].push_back(each.substr(each.find(' ') + 1));
  BOOST_TEST(of.size() == 50u);
  for (const auto& [name, data] : of) BOOST_TEST(data == numbers(1, 10), name);
  BOOST_TEST(run_until([&] { return who.does.status().done == 500u; }));
}

BOOST_AUTO_TEST_CASE(of_fifty_candidates_one_works_and_the_next_goes_on_when_it_is_stopped) {
  constexpr int stops = 12, in_each_term = 10;
  while (all.size() < 50) consume(&succeed);
  const auto has_worked = [](const running_reader& each) { return !each.does.attempts.empty(); };
  int last = 0;
  for (int stopped = 0; stopped < stops; ++stopped) {
    put_all(numbers(last + 1, last + in_each_term));
    BOOST_TEST_REQUIRE(has_results(static_cast<std::size_t>(last) + 1));
    last += in_each_term;
    const auto leads = [&](const running_reader& each) { return has_worked(each) && !each.ended.done(); };
    BOOST_TEST_REQUIRE(std::ranges::count_if(all, leads) == 1);
    auto& leader = *std::ranges::find_if(all, leads);
    leader.coordinator.stop();
    BOOST_TEST_REQUIRE(run_until([&] { return leader.ended.done(); }));
  }
  put_all(numbers(last + 1, last + in_each_term));
  last += in_each_term;
  BOOST_TEST_REQUIRE(has_results(static_cast<std::size_t>(last)));
  BOOST_TEST(std::ranges::count_if(all, has_worked) == stops + 1);
  end_runs(all);
  BOOST_TEST(results() == numbers(1, last), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(ten_thousand_letters_are_listed_once_and_put_back_one_by_one) {
  put_all({"0"});
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(1));
  end_runs(all);
  make_letters(10'000);
  put_all({"last"});
  const auto by = connect_logged();
  const auto found = letters_of(by);
  BOOST_TEST_REQUIRE(found.size() == 10'000u);
  BOOST_TEST(found.front().data == "1");
  BOOST_TEST(found.back().data == "10000");
  BOOST_TEST(requests.count("children") == 1);
  BOOST_TEST(requests.count("get") == 10'000);
  requests.clear();
  for (std::size_t i = 0; i < 20; ++i) check(revive(by, found[i]), {});
  BOOST_TEST(requests.all().size() == 60u, "a look at the record and at the letter, and its removal");
  BOOST_TEST(letters().size() == 9'980u);
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(22));
  auto expected = numbers(1, 20);
  expected.insert(expected.begin(), {"0", "last"});
  BOOST_TEST(results() == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(ten_thousand_shards_cost_no_more_than_one) {
  const auto of_one = requests_of_first_put("1");
  with.shards = 10'000;
  BOOST_TEST(requests_of_first_put("2") == of_one);
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(2));
  BOOST_TEST(results() == numbers(1, 2), boost::test_tools::per_element());
  auto shards = children("/t");
  std::erase_if(shards, [](const std::string& each) { return each.starts_with('_'); });
  BOOST_TEST(shards == std::vector<std::string>({"0000"}), boost::test_tools::per_element());
  for (const std::uint32_t shard : {1U, 5'000U, 9'999U}) BOOST_TEST(!has_shard(shard), shard);
  BOOST_TEST(run_until([&] { return who.does.status().done == 2u; }));
  end_runs(all);
  with.shards = 1;  // no other has left anything
}

// The server executes one request at a time, writes to its disk some 100 ms after it was asked, and refuses a request
// that has waited for more than 2 ms: a commit that comes behind the write of another is refused.
BOOST_AUTO_TEST_CASE(a_server_that_throttles_commits_is_asked_again_and_nothing_is_lost_or_done_twice) {
  const testcluster::ensemble busy(single_server(
      {.extra_config = {"request_throttle_max_requests=1", "throttled_op_wait_time=2", "flushDelay=300"}}));
  session_options how;
  how.hosts = busy.hosts();
  how.retry.first_pause = 1ms;
  how.retry.max_pause = 10ms;
  auto calm = connect(how);
  for (const auto& each : {std::string("/results"), election()})
    BOOST_TEST_REQUIRE(!std::get<0>(run(calm.async_create(each, "", create_mode::persistent, tuple))));
  auto other = connect(how);
  const auto refused = std::make_shared<int>(0);
  how.trace = [refused](const trace_event& each) {
    if (each.operation == "multi" && each.outcome == errc::server_error) ++*refused;
  };
  auto own = connect(how);
  const auto from = feed_of(own);
  running_reader who(std::move(own), from, election(), options, &succeed);
  int last = 0;
  const auto put_some = [&] {
    put_all(numbers(last + 1, last + 3));
    last += 3;
  };
  const auto is_done = [&] { return who.does.status().done == static_cast<std::uint64_t>(last); };
  put_some();
  BOOST_TEST_REQUIRE(run_until(is_done));
  for (*refused = 0; *refused < 5;) {
    BOOST_TEST_REQUIRE(last < 1'000, "the server refuses too little");
    const auto before = other.counters().requests;
    auto written = other.async_set("/results", "", any_version, asio::use_future);
    BOOST_TEST_REQUIRE(run_until([&] { return other.counters().requests > before; }));
    put_some();
    BOOST_TEST_REQUIRE(run_until([&] { return is_done() && written.wait_for(0s) == std::future_status::ready; }));
    written.get();
  }
  who.coordinator.stop();
  BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }));
  BOOST_TEST(!who.ended.error(), who.ended.error().message());
  for (const auto& each : numbers(1, last)) BOOST_TEST(who.does.attempts[each] == std::vector<std::int32_t>{1}, each);
  auto effects = std::get<1>(run(calm.async_children("/results", tuple))).names;
  std::ranges::sort(effects);
  for (auto& each : effects) each = std::get<1>(run(calm.async_get("/results/" + each, tuple))).data;
  BOOST_TEST(effects == numbers(1, last), boost::test_tools::per_element());
  for (auto* each : {&calm, &other, &who.zk}) BOOST_TEST(!std::get<0>(run(each->async_close(tuple))));
}
