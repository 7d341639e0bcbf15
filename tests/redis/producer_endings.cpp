// Producers whose session, context or handle ends, of many threads, and of many and large messages.
#include <atomic>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "redis/producer_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(redis_producer_endings, producer_case)

BOOST_AUTO_TEST_CASE(without_its_session_a_producer_does_not_keep_the_context_running) {
  asio::io_context io;
  session own(io.get_executor(), logging());
  redis_producer by(streams(own), "p");
  bool is_closed = false;
  by.async_put("k", "1", [&](error_code error, std::uint64_t number) {
    check({error, number}, {}, 1);
    own.async_close([&](error_code) { is_closed = true; });
  });
  io.run_for(5s);
  BOOST_TEST(is_closed);
  BOOST_TEST(io.stopped());
}

BOOST_AUTO_TEST_CASE(a_producer_that_has_gone_does_not_keep_the_context_running) {
  asio::io_context io;
  {
    const session own(io.get_executor(), logging());
    redis_producer by(streams(own), "p");
    by.async_put("k", "1", asio::detached);
  }
  io.run_for(5s);
  BOOST_TEST(io.stopped());
  has_put(1);
}

BOOST_AUTO_TEST_CASE(a_question_that_is_cancelled_ends_at_once) {
  auto& own = use_own_broker({});
  auto by = producer();
  put_well(by, 1);
  own.kill();
  client().disconnect();
  recorder<std::uint64_t> last(executor());
  by.async_last(last.token());
  last.cancel(asio::cancellation_type::total);
  BOOST_TEST_REQUIRE(run_until([&] { return last.done(); }));
  BOOST_TEST((last.error() == asio::error::operation_aborted), last.error().message());
  own.start();
  put_well(by, 2);
  has_put(2);
}

BOOST_AUTO_TEST_CASE(a_put_that_waits_goes_with_its_context) {
  for (int steps = 0; steps < 200; steps += 1 + steps / 8) {
    auto held = std::make_shared<int>();
    const std::weak_ptr<int> seen = held;
    {
      asio::io_context io;
      const session own(io.get_executor(), fixture::options());
      redis_producer by(streams(own), "p");
      by.async_put("k", "x", [held, by](error_code, std::uint64_t) {});
      by.async_put_all({{"k", "y"}, {"l", "z"}}, [held, by](error_code, std::uint64_t) {});
      by.async_last([held, by](error_code, std::uint64_t) {});
      held.reset();
      for (int i = 0; i < steps; ++i) io.run_one_for(10ms);
    }
    BOOST_TEST(seen.expired(), steps);
  }
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
  asio::io_context io;
  std::vector<std::thread> threads;
  std::atomic<int> done{0};
  {
    const session own(io.get_executor(), logging());
    redis_producer by(streams(own), "p");
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&done, by]() mutable {
        for (int i = 0; i < 500; ++i) {
          by.async_put("k", std::to_string(i), [&done](error_code error, std::uint64_t) { done += error ? 0 : 1; });
        }
      });
    }
  }
  for (int t = 0; t < 2; ++t) threads.emplace_back([&io] { io.run(); });
  for (auto& each : threads) each.join();
  BOOST_TEST(done == 1'000);
  BOOST_TEST(client().length("orders:0") == 1'000);
}

BOOST_AUTO_TEST_CASE(large_messages_and_calls_over_many_streams) {
  with.shards = 1'000;
  with.timeout = 60s;
  auto by = producer();
  std::vector<topic_message> many;
  for (int i = 0; i < 10'000; ++i) many.push_back({"key " + std::to_string(i), std::to_string(i)});
  check(run(by.async_put_all(std::move(many), tuple)), {}, 10'000);
  const auto over = streams(zk());
  long long found = 0;
  for (std::uint32_t shard = 0; shard < 1'000; ++shard) found += client().length(over.stream_of(shard));
  BOOST_TEST(found == 10'000);
  const std::string key("k\0y", 3);
  std::string large((std::size_t{64} << 20) - key.size(), 'x');
  large[1] = '\0';
  check(run(by.async_put(key, large, tuple)), {}, 10'001);
  const auto last = client().get({"XREVRANGE", over.stream_of(over.shard_of(key)), "+", "-", "COUNT", "1"});
  const auto& fields = *last->element[0]->element[1];
  BOOST_TEST(std::string(fields.element[1]->str, fields.element[1]->len) == key);
  BOOST_TEST((std::string_view(fields.element[3]->str, fields.element[3]->len) == large));
  check(run(by.async_put("", "", tuple)), {}, 10'002);
}

BOOST_AUTO_TEST_SUITE_END()
