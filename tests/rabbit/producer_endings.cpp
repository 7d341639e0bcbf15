// Producers whose session, context or handle ends, of many threads, and of many and large messages.
#include <atomic>
#include <stdexcept>
#include <thread>

#include <boost/asio/detached.hpp>

#include "rabbit/producer_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(rabbit_producer_endings, producer_case)

BOOST_AUTO_TEST_CASE(without_its_session_a_producer_does_not_keep_the_context_running) {
  asio::io_context own_io;
  session own(own_io.get_executor(), logging());
  rabbit_producer by(queues(own), "p");
  bool is_closed = false;
  by.async_put("k", "1", [&](error_code error) {
    check(error, {});
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
    rabbit_producer by(queues(own), "p");
    by.async_put("k", "1", asio::detached);
  }
  own_io.run_for(30s);
  BOOST_TEST(own_io.stopped());
  has_put(1);
}

BOOST_AUTO_TEST_CASE(a_put_that_is_cancelled_is_put_all_the_same) {
  auto& between = use_proxy();
  auto by = producer();
  put_well(by, "1");
  between.refuse(true);
  between.cut();
  recorder<> waits(executor());
  by.async_put("k", "2", waits.token());
  waits.cancel(asio::cancellation_type::total);
  BOOST_TEST_REQUIRE(run_until([&] { return waits.done(); }));
  check(waits.error(), error_code(asio::error::operation_aborted));
  between.refuse(false);
  put_well(by, "3");
  has_put(3);
}

BOOST_AUTO_TEST_CASE(a_session_that_is_closed_ends_the_puts_that_wait_for_a_broker) {
  with.hosts = "127.0.0.1:1";
  auto own = connect(logging());
  rabbit_producer by(queues(own), "p");
  recorder<> waits(executor());
  recorder<std::uint64_t> many(executor());
  by.async_put("k", "1", waits.token());
  by.async_put_all(with_key("k", 2, 3), many.token());
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("connect_failed rabbitmq"); }));
  BOOST_TEST(!std::get<0>(run(own.async_close(tuple))));
  BOOST_TEST_REQUIRE(run_until([&] { return waits.done() && many.done(); }));
  check(waits.error(), errc::closed);
  check({many.error(), many.result<0>()}, errc::closed, 0u);
  check(put(by, "4"), errc::closed);
}

BOOST_AUTO_TEST_CASE(a_session_that_is_closed_ends_the_puts_that_wait_for_a_confirm) {
  auto& between = use_proxy();
  auto own = connect(logging());
  rabbit_producer by(queues(own), "p");
  put_well(by, "1");
  between.blackhole(testcluster::proxy::way::to_client);
  recorder<> waits(executor());
  by.async_put("k", "2", waits.token());
  BOOST_TEST_REQUIRE(run_until([&] { return has_depth(2); }));
  BOOST_TEST(!waits.done());
  BOOST_TEST(!std::get<0>(run(own.async_close(tuple))));
  BOOST_TEST_REQUIRE(run_until([&] { return waits.done(); }));
  check(waits.error(), errc::closed);
  between.heal();
}

BOOST_AUTO_TEST_CASE(a_put_that_waits_goes_with_its_context) {
  for (int steps = 0; steps < 200; steps += 1 + steps / 8) {
    auto held = std::make_shared<int>();
    const std::weak_ptr<int> seen = held;
    {
      asio::io_context own_io;
      const session own(own_io.get_executor(), fixture::options());
      rabbit_producer by(queues(own), "p");
      by.async_put("k", "x", [held, by](error_code) {});
      by.async_put_all({{"k", "y"}, {"l", "z"}}, [held, by](error_code, std::uint64_t) {});
      held.reset();
      for (int i = 0; i < steps; ++i) own_io.run_one_for(10ms);
    }
    BOOST_TEST(seen.expired(), steps);
  }
}

BOOST_AUTO_TEST_CASE(a_handler_that_throws_does_not_concern_the_others) {
  auto by = producer();
  int told = 0;
  for (int i = 1; i <= 5; ++i) {
    by.async_put("k", std::to_string(i), [&, i](error_code error) {
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
  put_well(by, "6");
  has_put(6);
}

BOOST_AUTO_TEST_CASE(many_threads_put_and_drop_the_producer) {
  asio::io_context own_io;
  std::vector<std::thread> threads;
  std::atomic<int> done{0};
  {
    const session own(own_io.get_executor(), logging());
    rabbit_producer by(queues(own), "p");
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&done, by]() mutable {
        for (int i = 0; i < 500; ++i) {
          by.async_put("k", std::to_string(i), [&done](error_code error) { done += error ? 0 : 1; });
        }
      });
    }
  }
  for (int t = 0; t < 2; ++t) threads.emplace_back([&own_io] { own_io.run(); });
  for (auto& each : threads) each.join();
  BOOST_TEST(done == 1'000);
  BOOST_TEST(reader().read().size() == 1'000u);
}

BOOST_AUTO_TEST_CASE(large_messages_and_calls_over_many_queues) {
  with.shards = 8;
  auto by = producer();
  messages many;
  for (int i = 0; i < 10'000; ++i) many.push_back({"key " + std::to_string(i), std::to_string(i)});
  check(put_all_of(by, std::move(many)), {}, 10'000u);
  std::size_t found = 0;
  for (std::uint32_t shard = 0; shard < 8; ++shard) found += client().depth(queue(shard));
  BOOST_TEST(found == 10'000u);
  const auto over = queues(zk());
  std::string key("k\0y", 3);
  while (over.shard_of(key) != 0) key.push_back('y');
  std::string large(largest_message, 'x');
  large[1] = '\0';
  check(put(by, large, key), {});
  check(put(by, "", key), {});
  const auto& all_of_first = reader().read();
  BOOST_TEST_REQUIRE(all_of_first.size() >= 2u);
  const auto& last_but_one = all_of_first[all_of_first.size() - 2];
  BOOST_TEST(last_but_one.key == key);
  BOOST_TEST((last_but_one.data == large));
  BOOST_TEST(all_of_first.back().data.empty());
}

BOOST_AUTO_TEST_SUITE_END()
