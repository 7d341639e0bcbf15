// Coordinators on a context of several threads: the phases of a career never overlap, whatever other threads call
// meanwhile.
#include <deque>

#include <zkrecipes/consumer/consumer_coordinator.hpp>
#include <zkrecipes/election.hpp>

#include "ensemble/print.hpp"
#include "threads/pool.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// The plain members are not atomic on purpose: ThreadSanitizer reports two calls that overlap.
class busy : public leader_career {
 public:
  explicit busy(std::atomic<int>& leading, bool finish) : leading_(leading), finish_(finish) {}

  career_traits traits() const override { return {.hand_over_deadline = 20s, .finish_message_in_hand = finish_}; }
  asio::awaitable<void> inaugurate(term) override {
    ++terms;
    most = std::max(most, ++leading_);
    co_await pause();
  }
  asio::awaitable<void> execute(term present) override {
    for (int i = 0; i < 5 && !(finish_ && present.ending()); ++i) {
      ++steps;
      co_await pause();
    }
  }
  asio::awaitable<void> hand_over(term, term_end) override {
    co_await pause();
    --leading_;
  }

  std::atomic<int> progress = 0;
  int terms = 0;
  int steps = 0;
  int most = 0;

 private:
  asio::awaitable<void> pause() {
    asio::steady_timer moment(co_await asio::this_coro::executor, std::chrono::microseconds(200));
    co_await moment.async_wait(asio::use_awaitable);
    ++progress;
  }

  std::atomic<int>& leading_;
  bool finish_;
};

struct replica {
  replica(session over, std::atomic<int>& leading, bool finish, std::string id)
      : zk(std::move(over)), does(leading, finish), coordinator(zk, "/e", {.id = std::move(id)}) {
    ended = coordinator.async_run(does, future);
  }
  session zk;
  busy does;
  consumer_coordinator coordinator;
  std::future<std::tuple<error_code>> ended;
};

class replicas : public pool {
 public:
  void terms_pass_from_one_to_the_other(bool finish) {
    create("/e");
    leaves("/e");
    std::atomic<int> leading = 0;
    std::deque<replica> all;
    for (int i = 0; i < 3; ++i)
      all.emplace_back(connect(), leading, finish, std::string(1, static_cast<char>('a' + i)));
    {
      auto interfere = [&] {
        for (auto& each : all) each.coordinator.resign();
        // This sleep waits for nothing in particular: without a pause no term would get anywhere.
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      };
      disturber one(interfere);
      disturber another(interfere);
      election contest(admin(), "/e", {.id = "observer"});
      BOOST_TEST(wait_until([&] { return std::get<1>(get(contest.async_view(future))).epoch >= 20; }));
    }
    std::vector<std::thread> stoppers;
    for (auto& each : all) stoppers.emplace_back([&] { each.coordinator.stop(); });
    for (auto& each : stoppers) each.join();
    int terms = 0;
    for (auto& each : all) {
      BOOST_TEST(!std::get<0>(get(std::move(each.ended))));
      BOOST_TEST((each.coordinator.failure() == nullptr));
      BOOST_TEST(each.does.most <= 1);
      terms += each.does.terms;
    }
    BOOST_TEST(terms >= 20);
    BOOST_TEST(leading == 0);
    // A coordinator that was stopped while it got in line removes its node in the background.
    BOOST_TEST(wait_until([&] { return children("/e").names.empty(); }));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(coordinators, replicas)

BOOST_AUTO_TEST_CASE(messages_are_finished) { terms_pass_from_one_to_the_other(true); }
BOOST_AUTO_TEST_CASE(or_cut_short) { terms_pass_from_one_to_the_other(false); }

BOOST_AUTO_TEST_CASE(commits_come_from_every_thread) {
  create("/e");
  create("/effects");
  leaves("/effects");
  leaves("/e");
  struct spread final : leader_career {
    asio::awaitable<void> inaugurate(term present) override {
      if (!std::exchange(told, true)) begun.set_value(present);
      co_return;
    }
    asio::awaitable<void> execute(term present) override { co_await present.async_ending(tuple); }
    asio::awaitable<void> hand_over(term, term_end) override { co_return; }
    std::promise<term> begun;
    bool told = false;
  } does;
  auto zk = connect();
  consumer_coordinator coordinator(zk, "/e", {.id = "spread"});
  auto ended = coordinator.async_run(does, future);
  const auto present = get(does.begun.get_future());
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 10; ++k) {
        const auto name = "/effects/" + std::to_string(i) + '-' + std::to_string(k);
        good += !std::get<0>(term(present).async_commit(transaction().create(name).remove(name), future).get());
        if (k == 5) coordinator.resign();  // the record changes while the commits go on
      }
    });
  }
  for (auto& each : threads) each.join();
  coordinator.stop();
  BOOST_TEST(!std::get<0>(get(std::move(ended))));
  BOOST_TEST(good > 0);
  BOOST_TEST(children("/effects").names.empty());
}

BOOST_AUTO_TEST_SUITE_END()

// Sessions and elections from many threads at once.

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
