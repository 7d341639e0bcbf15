// Cases of brokers that are away or refuse, and of records of somebody else: a part of the suites redis_brokers and
// rabbit_brokers.

BOOST_AUTO_TEST_CASE(a_broker_that_is_away_is_waited_for_and_its_absence_told) {
  use_mortal_broker();
  put_all(numbers(1, 20));
  kill_broker();
  consume(&succeed);
  BOOST_TEST_REQUIRE(
      run_until([&] { return has_logged("connect_failed " + broker_name + ' ' + address_of_broker()); }));
  BOOST_TEST(has_logged("Connection refused"));
  start_broker();
  BOOST_TEST_REQUIRE(has_results(20));
  BOOST_TEST(results() == numbers(1, 20), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_wrong_password_ends_no_run_and_is_not_told) {
  demand_password();
  with.password = "open barley";
  check_waiting(consume(&succeed), "authentication_failed " + broker_name);
  BOOST_TEST(!has_logged("barley"));
}

BOOST_AUTO_TEST_CASE(a_path_or_a_record_of_somebody_else_is_left_alone) {
  create("/t", "mine");
  check_failure(consume(&succeed), errc::foreign_data);
  BOOST_TEST(get("/t").data == "mine");
  BOOST_TEST(!has_source());
  BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_set("/t", "", any_version, tuple))));
  put_all({"1"});
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(1));
  end_runs(all);
  BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_set(path_of_stored(), "mine", any_version, tuple))));
  check_failure(consume(&succeed), errc::foreign_data);
  BOOST_TEST(stored() == "mine");
}

BOOST_AUTO_TEST_CASE(another_number_of_shards_or_another_source_is_refused) {
  put_all({"1"});
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(1));
  end_runs(all);
  with.shards = 2;
  check_failure(consume(&succeed), errc::size_mismatch);
  with.shards = 1;
  const auto ours = std::exchange(name_of_source(), "others");
  check_failure(consume(&succeed), errc::foreign_data);
  BOOST_TEST(!has_source());
  name_of_source() = ours;
}
