// Cases of producers whose session, context or handle ends: a part of the suites redis_producer_endings and
// rabbit_producer_endings.

BOOST_AUTO_TEST_CASE(without_its_session_a_producer_does_not_keep_the_context_running) {
  asio::io_context own_io;
  session own(own_io.get_executor(), logging());
  auto by = producer_of(own);
  bool is_closed = false;
  by.async_put("k", "1", [&](error_code error, std::uint64_t number) {
    check({error, number}, {}, 1);
    own.async_close([&](error_code) { is_closed = true; });
  });
  own_io.run_for(30s);
  BOOST_TEST(is_closed);
  BOOST_TEST(own_io.stopped());
}

BOOST_AUTO_TEST_CASE(a_producer_that_has_gone_does_not_keep_the_context_running) {
  asio::io_context own_io;
  {
    const session own(own_io.get_executor(), logging());
    auto by = producer_of(own);
    by.async_put("k", "1", asio::detached);
  }
  own_io.run_for(30s);
  BOOST_TEST(own_io.stopped());
  has_put(1);
}

BOOST_AUTO_TEST_CASE(a_put_that_is_cancelled_is_put_all_the_same) {
  expect_outage();
  auto by = producer();
  put_well(by, 1);
  begin_outage();
  recorder<std::uint64_t> waits(executor());
  by.async_put("k", "2", waits.token());
  waits.cancel(asio::cancellation_type::total);
  BOOST_TEST_REQUIRE(run_until([&] { return waits.done(); }));
  check(waits.error(), error_code(asio::error::operation_aborted));
  end_outage();
  put_well(by, 3);
  has_put(3);
}

BOOST_AUTO_TEST_CASE(a_session_that_is_closed_ends_the_puts_that_wait_for_a_broker) {
  with.hosts = "127.0.0.1:1";
  auto own = connect(logging());
  auto by = producer_of(own);
  recorder<std::uint64_t> waits(executor());
  recorder<std::uint64_t> many(executor());
  by.async_put("k", "1", waits.token());
  by.async_put_all(with_key("k", 2, 3), many.token());
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("connect_failed " + broker_name); }));
  BOOST_TEST(!std::get<0>(run(own.async_close(tuple))));
  BOOST_TEST_REQUIRE(run_until([&] { return waits.done() && many.done(); }));
  check(waits.error(), errc::closed);
  check({many.error(), many.result<0>()}, errc::closed, 0u);
  check_refused(by, errc::closed);
}

BOOST_AUTO_TEST_CASE(a_put_that_waits_goes_with_its_context) {
  check_goes_with_its_context([&](const session& own, std::shared_ptr<int> held) {
    auto by = producer_of(own);
    by.async_put("k", "x", [held, by](auto...) {});
    by.async_put_all({{"k", "y"}, {"l", "z"}}, [held, by](error_code, std::uint64_t) {});
    return by;
  });
}

BOOST_AUTO_TEST_CASE(a_handler_that_throws_does_not_concern_the_others) {
  auto by = producer();
  int told = 0;
  for (int i = 1; i <= 5; ++i) {
    by.async_put("k", std::to_string(i), [&, i](error_code error, std::uint64_t) {
      BOOST_TEST(!error);
      ++told;
      if (i == 2) throw std::runtime_error("a handler");
    });
  }
  int thrown = 0;
  while (told < 5 && thrown < 10) {
    try {
      BOOST_TEST_REQUIRE(run_until([&] { return told == 5; }));
    } catch (const std::runtime_error&) {
      ++thrown;
    }
  }
  BOOST_TEST(told == 5);
  BOOST_TEST(thrown == 1);
  put_well(by, 6);
  has_put(6);
}

BOOST_AUTO_TEST_CASE(many_threads_put_and_drop_the_producer) {
  asio::io_context own_io;
  std::vector<std::thread> threads;
  std::atomic<int> done{0};
  {
    const session own(own_io.get_executor(), logging());
    auto by = producer_of(own);
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&done, by]() mutable {
        for (int i = 0; i < 500; ++i) {
          by.async_put("k", std::to_string(i), [&done](error_code error, std::uint64_t) { done += error ? 0 : 1; });
        }
      });
    }
  }
  for (int t = 0; t < 2; ++t) threads.emplace_back([&own_io] { own_io.run(); });
  for (auto& each : threads) each.join();
  BOOST_TEST(done == 1'000);
  BOOST_TEST(count_put() == 1'000u);
}
