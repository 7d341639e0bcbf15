// Cases of brokers over TLS: a part of the suites redis_secure and rabbit_secure. Three messages were put before each.

BOOST_AUTO_TEST_CASE(a_broker_that_is_killed_is_found_again) {
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(3));
  kill_broker();
  start_broker();
  for (const auto& each : numbers(4, 6)) put_in_the_end(each);
  BOOST_TEST_REQUIRE(has_results(6));
  BOOST_TEST(results() == numbers(1, 6), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_broker_of_another_authority_is_refused) {
  const temporary_folder folder;
  const testcluster::authority other(folder.path());
  with.tls->authorities = other.certificate().string();
  consume(&succeed);
  BOOST_TEST(has_told(tls_errc::unknown_authority));
  BOOST_TEST(children("/results").empty());
  end_runs(all);
}

BOOST_AUTO_TEST_CASE(a_broker_of_another_name_is_refused) {
  with.tls->server_name = "broker.example";
  consume(&succeed);
  BOOST_TEST(has_told(tls_errc::wrong_name));
}

BOOST_AUTO_TEST_CASE(tls_at_the_plain_port_is_told) {
  with.hosts = address_of_broker();
  with.timeout = 500ms;  // Redis takes the handshake for the begin of a command, and waits for its end
  consume(&succeed);
  BOOST_TEST(run_until([&] { return has_logged("connect_failed " + broker_name + ' ' + with.hosts); }));
}

BOOST_AUTO_TEST_CASE(a_missing_file_is_named) {
  with.tls->authorities = "/nowhere.pem";
  BOOST_CHECK_EXCEPTION(consume(&succeed), std::invalid_argument, [](const std::invalid_argument& why) {
    const std::string text = why.what();
    return text.starts_with(options_name + "::tls.authorities: /nowhere.pem: ");
  });
}
