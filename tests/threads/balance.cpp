// Several threads move tracks of their own, and observers look on. No server is needed.
#include <atomic>
#include <deque>
#include <thread>
#include <vector>

#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/flow/balance.hpp>
#include <zkrecipes/session.hpp>

#include "balance/shared_pace.hpp"
#include "session/core.hpp"
#include "support/coroutine.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

constexpr int workers = 4;
constexpr int moves = 20'000;

/// Steps only grow. So if the steps of one track, read first, are ahead of those of another, read after them, by more
/// than the range, they were so when the first were read. Read the other way round they prove nothing, because the
/// second track may have moved in between.
bool proves_a_violation(const balance_track& read_first, const balance_track& read_second, std::uint64_t range) {
  const auto first = read_first.steps();
  const auto second = read_second.steps();
  return first > second + range;
}

/// Compares all pairs of tracks, which stay where they are, until it is destroyed, and at least once.
class observer {
 public:
  observer(const balance& pace, const std::deque<balance_track>& tracks)
      : thread_([this, pace, &tracks] {
          do {
            for (const auto& one : tracks) {
              for (const auto& other : tracks) violations += proves_a_violation(one, other, pace.options().range);
            }
            const auto seen = pace.status();
            violations += seen.spread > seen.range || seen.largest_spread > seen.range;
            falls += seen.limit < limit_;
            limit_ = seen.limit;
          } while (!stop_);
        }) {}
  ~observer() {
    stop_ = true;
    thread_.join();
  }

  std::atomic<int> violations = 0;
  std::atomic<int> falls = 0;

 private:
  std::uint64_t limit_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

asio::awaitable<void> walk(balance_track& track, int steps) {
  for (int i = 0; i < steps; ++i) {
    if (!track.try_move()) co_await track.async_move();
  }
}

/// `work` runs as a coroutine on each of the threads.
template <class Work>
void run_on_threads(asio::thread_pool& pool, Work work) {
  std::vector<std::future<void>> all;
  for (int i = 0; i < workers; ++i) all.push_back(asio::co_spawn(pool, work(i), asio::use_future));
  for (auto& each : all) {
    BOOST_TEST_REQUIRE((each.wait_for(4 * time_limit) == std::future_status::ready), "a track waits for ever");
    each.get();
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(balances)

BOOST_AUTO_TEST_CASE(no_two_tracks_differ_by_more_than_the_range) {
  for (const std::uint64_t range : {1, 5, 100}) {
    asio::thread_pool pool(workers);
    balance pace(pool.get_executor(), {.range = range});
    std::deque<balance_track> tracks;
    for (int i = 0; i < workers; ++i) tracks.push_back(pace.track(std::to_string(i)));
    observer looks_on(pace, tracks);
    // Those that have made all their steps stay, so each one gets as far as the others.
    run_on_threads(pool, [&](int i) { return walk(tracks[static_cast<std::size_t>(i)], moves); });
    for (const auto& each : tracks) BOOST_TEST(each.steps() == std::uint64_t(moves));
    BOOST_TEST(looks_on.violations == 0);
    BOOST_TEST(looks_on.falls == 0);
    BOOST_TEST(pace.status().largest_spread > 0u);
  }
}

BOOST_AUTO_TEST_CASE(what_was_done_before_a_step_is_visible_behind_the_move_that_it_allows) {
  for (const int range : {1, 6, 40}) {
    asio::thread_pool pool(2);
    balance pace(pool.get_executor(), {.range = static_cast<std::uint64_t>(range)});
    std::vector<int> done(moves);  // not atomic on purpose: ThreadSanitizer reports a read that is not ordered
    auto slow = pace.track("slow");
    auto fast = pace.track("fast");
    const auto writes = [&]() -> asio::awaitable<void> {
      for (int i = 0; i < moves; ++i) {
        done[static_cast<std::size_t>(i)] = i;
        co_await walk(slow, 1);
      }
    };
    const auto reads = [&]() -> asio::awaitable<int> {
      int wrong = 0;
      for (int i = 0; i < moves; ++i) {
        co_await walk(fast, 1);
        if (i >= range) wrong += done[static_cast<std::size_t>(i - range)] != i - range;
      }
      co_return wrong;
    };
    auto written = asio::co_spawn(pool, writes(), asio::use_future);
    BOOST_TEST(asio::co_spawn(pool, reads(), asio::use_future).get() == 0);
    written.get();
  }
}

BOOST_AUTO_TEST_CASE(tracks_come_and_go) {
  asio::thread_pool pool(workers);
  balance pace(pool.get_executor(), {.range = 20});
  std::deque<balance_track> none;
  observer looks_on(pace, none);
  run_on_threads(pool, [&](int i) -> asio::awaitable<void> {
    for (int life = 0; life < 200; ++life) {
      auto mine = pace.track(std::to_string(i));
      co_await walk(mine, (life * 7 + i) % 100);
    }
  });
  BOOST_TEST(looks_on.violations == 0);
  BOOST_TEST(looks_on.falls == 0);
  BOOST_TEST(pace.status().tracks.empty());
}

BOOST_AUTO_TEST_CASE(a_track_leaves_from_elsewhere_while_it_moves) {
  for (int i = 0; i < 200; ++i) {
    asio::thread_pool pool(2);
    balance pace(pool.get_executor(), {.range = 8});
    auto moves_on = pace.track("moves on");
    std::atomic<bool> has_left = false;
    const auto body = [&]() -> asio::awaitable<int> {
      int after = 0;
      for (;;) {
        const bool knew = has_left;
        auto [error] = co_await moves_on.async_move(tuple);
        after += !error && knew;
        if (error == errc::closed) co_return after;
      }
    };
    auto ended = asio::co_spawn(pool, body(), asio::use_future);
    std::this_thread::sleep_for(std::chrono::microseconds(10 * (i % 20)));  // another moment each time
    moves_on.leave();
    has_left = true;
    BOOST_TEST(ended.get() == 0, "a step was made after it had left");
    BOOST_TEST(!moves_on.try_move());
  }
}

BOOST_AUTO_TEST_CASE(moves_are_cancelled_while_others_let_them_go_on) {
  asio::thread_pool pool(workers);
  balance pace(pool.get_executor(), {.range = 1});
  auto slow = pace.track("slow");
  auto fast = pace.track("fast");
  std::uint64_t made = 0;
  for (int i = 0; i < 2'000; ++i) {
    // A signal and its handler share a strand, as Asio requires; the slow track moves on any thread.
    auto strand = asio::make_strand(pool.get_executor());
    auto signal = std::make_shared<asio::cancellation_signal>();
    std::promise<error_code> ended;
    fast.async_move(asio::bind_cancellation_slot(
        signal->slot(), asio::bind_executor(strand, [&, signal](error_code error) { ended.set_value(error); })));
    asio::post(strand, [signal] { signal->emit(asio::cancellation_type::total); });
    if (i % 2 == 0) BOOST_TEST(slow.try_move());
    const auto error = ended.get_future().get();
    BOOST_TEST((!error || error == asio::error::operation_aborted));
    made += !error;
    BOOST_TEST(fast.steps() == made);
  }
}

BOOST_AUTO_TEST_SUITE_END()

// Several threads move tracks of one process in a shared balance, while another one raises the limit. No server is
// needed.

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
