// Producers whose session, context or handle ends, of many threads, and of many and large messages.
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <thread>

#include <boost/asio/detached.hpp>

#include "redis/producer_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(redis_producer_endings, producer_case)

#include "brokers/producer_ending_cases.hpp"

BOOST_AUTO_TEST_CASE(a_question_that_is_cancelled_ends_at_once) {
  expect_outage();
  auto by = producer();
  put_well(by, 1);
  begin_outage();
  recorder<std::uint64_t> last(executor());
  by.async_last(last.token());
  last.cancel(asio::cancellation_type::total);
  BOOST_TEST_REQUIRE(run_until([&] { return last.done(); }));
  BOOST_TEST((last.error() == asio::error::operation_aborted), last.error().message());
  end_outage();
  put_well(by, 2);
  has_put(2);
}

BOOST_AUTO_TEST_CASE(a_question_that_waits_goes_with_its_context) {
  check_goes_with_its_context([&](const session& own, std::shared_ptr<int> held) {
    auto by = producer_of(own);
    by.async_put("k", "x", asio::detached);
    by.async_last([held, by](error_code, std::uint64_t) {});
    return by;
  });
}

BOOST_AUTO_TEST_CASE(a_session_that_is_closed_ends_the_question_that_waits_for_a_broker) {
  with.hosts = "127.0.0.1:1";
  auto own = connect(logging());
  auto by = producer_of(own);
  recorder<std::uint64_t> last(executor());
  by.async_put("k", "1", asio::detached);
  by.async_last(last.token());
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("connect_failed redis"); }));
  BOOST_TEST(!std::get<0>(run(own.async_close(tuple))));
  BOOST_TEST_REQUIRE(run_until([&] { return last.done(); }));
  check(last.error(), errc::closed);
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
