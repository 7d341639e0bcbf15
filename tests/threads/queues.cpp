// One queue object and one producer, shared by all threads.
#include <set>

#include <zkrecipes/queue.hpp>

#include "ensemble/print.hpp"
#include "threads/pool.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// The folder that a waiting taker leaves behind exists from the beginning.
struct queue_pool : pool {
  queue_pool() {
    create("/q");
    create("/q/_idle");
    leaves("/q/_idle");
  }
  void teardown() {
    leaves("/q");
    pool::teardown();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(queues, queue_pool)

BOOST_AUTO_TEST_CASE(every_item_is_taken_once) {
  constexpr int each_puts = 25;
  leaves("/q/_producer-p");
  auto zk = connect();
  queue shared(zk, "/q");
  producer source(shared, "p");
  std::vector<std::thread> putting;
  for (int i = 0; i < 4; ++i) {
    putting.emplace_back([&, i] {
      for (int k = 0; k < each_puts; ++k) {
        auto put = source.async_put(std::to_string(i) + '-' + std::to_string(k), future).get();
        if (std::get<0>(put)) return;
      }
    });
  }
  auto works = [&]() -> asio::awaitable<std::vector<std::string>> {
    std::vector<std::string> seen;
    for (int k = 0; k < each_puts; ++k) {
      auto [error, item] = co_await shared.async_take(tuple);
      if (error) co_return seen;
      auto [ack_error] = co_await shared.async_acknowledge(item, tuple);
      if (!ack_error) seen.push_back(item.data);
    }
    co_return seen;
  };
  std::vector<std::future<std::vector<std::string>>> taking;
  for (int i = 0; i < 4; ++i) taking.push_back(asio::co_spawn(io(), works(), asio::use_future));
  std::set<std::string> all;
  for (auto& each : taking) {
    for (auto& name : get(std::move(each))) BOOST_TEST(all.insert(name).second, name << " twice");
  }
  for (auto& each : putting) each.join();
  BOOST_TEST(all.size() == 4u * each_puts);
  BOOST_TEST(std::get<1>(get(shared.async_size(future))) == 0u);
}

BOOST_AUTO_TEST_CASE(a_session_is_dropped_while_others_wait_on_it) {
  for (int i = 0; i < 20; ++i) {
    std::vector<std::future<std::tuple<error_code, message>>> waiting;
    {
      auto zk = connect();
      queue shared(zk, "/q");
      for (int k = 0; k < 3; ++k) waiting.push_back(shared.async_take(future));
      std::thread closing([zk]() mutable { get(zk.async_close(future)); });
      closing.join();
    }
    for (auto& each : waiting) BOOST_TEST(std::get<0>(get(std::move(each))) == errc::closed);
  }
}

BOOST_AUTO_TEST_SUITE_END()
