// Several threads move tracks of one process in a shared balance, while another one raises the limit. No server is
// needed.
#include <atomic>
#include <thread>

#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/session.hpp>

#include "balance/shared_pace.hpp"
#include "session/core.hpp"
#include "support/coroutine.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using detail::shared_pace;

namespace {

constexpr int movers = 4;
constexpr int moves_of_each = 5'000;
constexpr std::int64_t range = 20;

asio::awaitable<void> move(std::shared_ptr<shared_pace> pace, shared_pace::track_ptr track) {
  auto initiate = [pace, track](auto handler) {
    pace->move(track, detail::handler_for<void(error_code)>(std::move(handler)));
  };
  co_await asio::async_initiate<const asio::use_awaitable_t<>, void(error_code)>(initiate, asio::use_awaitable);
}

asio::awaitable<void> walk(std::shared_ptr<shared_pace> pace, shared_pace::track_ptr track, std::atomic<int>& left) {
  for (int i = 0; i < moves_of_each; ++i) {
    if (!pace->try_move(*track)) co_await move(pace, track);
  }
  pace->leave(*track);
  --left;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shared_balances_on_threads)

BOOST_AUTO_TEST_CASE(tracks_keep_within_the_range_while_the_limit_is_raised) {
  asio::thread_pool pool(movers);
  session zk(pool.get_executor(), {.hosts = "127.0.0.1:1"});
  const auto on = detail::require_session(zk)->get_scheduler();
  auto pace = std::make_shared<shared_pace>(on, static_cast<std::uint64_t>(range), [] {});
  pace->open();
  std::vector<shared_pace::track_ptr> tracks;
  for (int i = 0; i < movers; ++i) tracks.push_back(pace->add("t" + std::to_string(i)));
  pace->admit(range, [] { return detail::never; });
  std::atomic<int> left = movers;
  std::atomic<int> violations = 0;
  std::thread member([&] {
    while (left > 0) {
      if (const auto floor = pace->next_floor()) pace->raise(*floor + range);
      shared_balance_status seen;
      pace->show_in(seen);
      for (const auto& each : seen.tracks) violations += each.steps > seen.floor + range || each.steps < seen.floor;
    }
  });
  std::vector<std::future<void>> done;
  for (const auto& each : tracks) done.push_back(asio::co_spawn(pool, walk(pace, each, left), asio::use_future));
  for (auto& each : done) each.get();
  member.join();
  BOOST_TEST(violations == 0);
  BOOST_TEST(!pace->has_tracks());
  for (const auto& each : tracks) BOOST_TEST(pace->steps(*each) == static_cast<std::uint64_t>(moves_of_each));
  zk.async_close(asio::use_future).get();
  pool.join();
}

BOOST_AUTO_TEST_SUITE_END()
