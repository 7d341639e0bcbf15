// Sessions and elections from many threads at once.
#include <zkrecipes/election.hpp>

#include "ensemble/print.hpp"
#include "threads/pool.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(elections, pool)

BOOST_AUTO_TEST_CASE(one_leads_at_a_time) {
  create("/e");
  leaves("/e");
  int inside = 0;  // guarded by the election, which has to order all that its owners do
  int turns = 0;
  std::vector<session> sessions{connect(), connect()};
  auto campaigns = [&](session over, std::string id) -> asio::awaitable<int> {
    election contest(over, "/e", {.id = id});
    for (int i = 0; i < 10; ++i) {
      auto [error, held] = co_await contest.async_campaign(tuple);
      if (error) co_return -1;
      if (++inside != 1) co_return -2;
      ++turns;
      asio::steady_timer moment(co_await asio::this_coro::executor, std::chrono::milliseconds(1));
      co_await moment.async_wait(asio::use_awaitable);
      --inside;
      co_await held.async_release(tuple);
    }
    co_return 10;
  };
  std::vector<std::future<int>> all;
  for (int i = 0; i < 6; ++i) {
    all.push_back(asio::co_spawn(io(), campaigns(sessions[i % 2], "c" + std::to_string(i)), asio::use_future));
  }
  for (auto& each : all) BOOST_TEST(get(std::move(each)) == 10);
  BOOST_TEST(turns == 60);
  BOOST_TEST(wait_until([&] { return children("/e").names.empty(); }));
}

BOOST_AUTO_TEST_CASE(an_ownership_can_be_asked_by_anybody_at_any_time) {
  create("/e");
  leaves("/e");
  auto zk = connect();
  election contest(zk, "/e", {.id = "asked"});
  for (int i = 0; i < 5; ++i) {
    auto [error, held] = get(contest.async_campaign(future));
    BOOST_TEST_REQUIRE(!error, error.message());
    std::atomic<int> looks = 0;
    auto look = [&, held_ptr = &held] {
      const bool lives = !held_ptr->error() && held_ptr->token() && held_ptr->valid_until() > lease_clock::now();
      looks += lives && zk.status().state == session_state::connected && zk.counters().requests > 0;
    };
    disturber one(look);
    disturber another(look);
    BOOST_TEST(wait_until([&] { return looks > 20; }));
    auto lost = held.async_lost(future);
    get(held.async_release(future));
    BOOST_TEST(std::get<0>(get(std::move(lost))) == errc::closed);
  }
}

BOOST_AUTO_TEST_CASE(campaigns_are_cancelled_from_elsewhere) {
  create("/e");
  leaves("/e");
  auto zk = connect();
  election contest(zk, "/e", {.id = "x"});
  auto [error, held] = get(contest.async_campaign(future));
  for (int i = 0; i < 30; ++i) {
    // A signal and its handler share a strand, as Asio requires; everything else runs on any thread.
    auto strand = asio::make_strand(io());
    auto signal = std::make_shared<asio::cancellation_signal>();
    std::promise<error_code> ended;
    asio::post(strand, [&, signal] {
      contest.async_campaign(asio::bind_cancellation_slot(
          signal->slot(),
          asio::bind_executor(strand, [&, signal](error_code why, ownership) { ended.set_value(why); })));
    });
    // This sleep waits for nothing in particular: the signal must come at another moment of the campaign each time, and
    // also before the campaign has begun.
    std::this_thread::sleep_for(std::chrono::microseconds(100 * i));
    asio::post(strand, [signal] { signal->emit(asio::cancellation_type::total); });
    BOOST_TEST(get(ended.get_future()) == asio::error::operation_aborted);
  }
  BOOST_TEST(wait_until([&] { return children("/e").names.size() == 1; }));
  get(held.async_release(future));
}

BOOST_AUTO_TEST_SUITE_END()
