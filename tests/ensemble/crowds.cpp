// Many who wait in one session: what they cost grows with their number, and they take turns with those of others.
#include <deque>
#include <optional>
#include <set>
#include <utility>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/counter.hpp>
#include <zkrecipes/double_barrier.hpp>
#include <zkrecipes/lock.hpp>
#include <zkrecipes/read_write_lock.hpp>
#include <zkrecipes/semaphore.hpp>

#include "ensemble/queue_case.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// A holder of another session, and a crowd behind it.
struct crowd_case : ensemble_case {
  crowd_case() : over_(connect()), others_(connect()) {}
  void teardown() {
    crowd.clear();
    holder = ownership();
    others_.reset();
    BOOST_TEST(run_until([&] { return children("/crowd").empty(); }));
    remove("/crowd");
    over_.reset();
    ensemble_case::teardown();
  }

  template <class Acquire>
  void stand_in_line(std::size_t many, Acquire acquire) {
    for (std::size_t i = 0; i < many; ++i) acquire(crowd.emplace_back(executor()).token());
    BOOST_TEST_REQUIRE(run_until([&] { return children("/crowd").size() == many + 1; }));
    settle(over());
    settle(over());  // what those ask for who have just seen their places has been answered
    before = over().counters().requests;
  }
  void hold(std::tuple<error_code, ownership> held) {
    BOOST_TEST_REQUIRE(!std::get<0>(held), std::get<0>(held).message());
    holder = std::move(std::get<1>(held));
  }
  void let_go() { BOOST_TEST(!std::get<0>(run(holder.async_release(tuple)))); }
  bool is_in(std::size_t which) { return crowd[which].done() && !crowd[which].error(); }
  bool are_in() {
    return std::ranges::all_of(crowd, [](auto& each) { return each.done() && !each.error(); });
  }
  std::uint64_t requests() const { return over_->counters().requests - before; }
  session& over() { return *over_; }
  session& others() { return *others_; }

  ownership holder;
  std::deque<recorder<ownership>> crowd;
  std::uint64_t before = 0;

 private:
  std::optional<session> over_;
  std::optional<session> others_;
};

constexpr std::size_t many = 100;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(crowds, crowd_case)

BOOST_AUTO_TEST_CASE(one_release_that_lets_all_in_costs_each_the_same) {
  hold(run(semaphore(others(), "/crowd", many).async_acquire(many, tuple)));
  semaphore all(over(), "/crowd", many);
  stand_in_line(many, [&](auto token) { all.async_acquire(std::move(token)); });
  let_go();
  BOOST_TEST_REQUIRE(run_until([&] { return are_in(); }));
  BOOST_TEST(requests() <= 8 * many);
}

BOOST_AUTO_TEST_CASE(a_lock_passes_through_a_session_without_lists) {
  hold(run(lock(others(), "/crowd").async_acquire(tuple)));
  lock one(over(), "/crowd");
  stand_in_line(many, [&](auto token) { one.async_acquire(std::move(token)); });
  let_go();
  BOOST_TEST_REQUIRE(run_until([&] { return is_in(0); }));
  const auto first = requests();
  for (std::size_t i = 0; i + 1 < many; ++i) {
    BOOST_TEST_REQUIRE(run_until([&] { return is_in(i); }));
    auto released = run(crowd[i].result<0>().async_release(tuple));
    BOOST_TEST(!std::get<0>(released));
  }
  BOOST_TEST_REQUIRE(run_until([&] { return is_in(many - 1); }));
  BOOST_TEST(requests() - first <= 2 * many, "the removal; a heartbeat here and there");
}

BOOST_AUTO_TEST_CASE(who_is_behind_one_that_gives_up_waits_for_those_in_front_of_it) {
  hold(run(lock(others(), "/crowd").async_acquire(tuple)));
  lock one(over(), "/crowd");
  stand_in_line(4, [&](auto token) { one.async_acquire(std::move(token)); });
  crowd[2].cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return children("/crowd").size() == 4u; }));
  let_go();
  BOOST_TEST_REQUIRE(run_until([&] { return is_in(0); }));
  settle(over());
  BOOST_TEST(!crowd[3].done());
  for (std::size_t each : {0, 1}) {
    BOOST_TEST_REQUIRE(run_until([&] { return is_in(each); }));
    BOOST_TEST(!crowd[3].done());
    BOOST_TEST(!std::get<0>(run(crowd[each].result<0>().async_release(tuple))));
  }
  BOOST_TEST_REQUIRE(run_until([&] { return is_in(3); }));
}

BOOST_AUTO_TEST_CASE(readers_that_are_let_in_together_hold_when_they_are_told) {
  hold(run(read_write_lock(others(), "/crowd").async_acquire_write(tuple)));
  read_write_lock shared(over(), "/crowd");
  constexpr std::size_t readers = 600;  // more than are resumed at once
  std::size_t told = 0;
  std::size_t valid = 0;
  std::vector<ownership> kept;
  for (std::size_t i = 0; i < readers; ++i) {
    shared.async_acquire_read([&](error_code, ownership mine) {
      ++told;
      if (mine.valid()) ++valid;
      kept.push_back(std::move(mine));
    });
  }
  BOOST_TEST_REQUIRE(run_until([&] { return children("/crowd").size() == readers + 1; }));
  let_go();
  BOOST_TEST_REQUIRE(run_until([&] { return told == readers; }));
  BOOST_TEST(valid == readers);
}

BOOST_AUTO_TEST_CASE(members_of_one_session_open_a_round_by_one_transaction) {
  request_log log;
  auto zk = connect(log.noted(options()));
  double_barrier doors(zk, "/crowd", many);
  std::deque<recorder<attendance>> all;
  for (std::size_t i = 0; i < many; ++i) doors.async_enter(all.emplace_back(executor()).token());
  BOOST_TEST_REQUIRE(run_until([&] { return std::ranges::all_of(all, [](auto& each) { return each.done(); }); }));
  for (auto& each : all) BOOST_TEST(!each.error(), each.error().message());
  BOOST_TEST(log.count("multi") == 1, "it names all members, so one for each of them would take memory of the square");
  log.clear();
  std::deque<recorder<>> left;
  for (auto& each : all) each.result<0>().async_leave(left.emplace_back(executor()).token());
  BOOST_TEST_REQUIRE(run_until([&] { return std::ranges::all_of(left, [](auto& each) { return each.done(); }); }));
  for (auto& each : left) BOOST_TEST(!each.error(), each.error().message());
  BOOST_TEST(log.count("children") < 7 * many / 4, "who reads the list later finds nobody there");
}

BOOST_AUTO_TEST_CASE(additions_of_many_objects_of_a_session_never_conflict) {
  std::deque<counter> all;
  std::deque<recorder<std::int64_t>> added;
  create("/crowd", "0");
  before = over().counters().requests;
  for (std::size_t i = 0; i < many; ++i) {
    all.emplace_back(over(), "/crowd").async_add(1, added.emplace_back(executor()).token());
  }
  BOOST_TEST_REQUIRE(run_until([&] { return std::ranges::all_of(added, &recorder<std::int64_t>::done); }));
  std::set<std::int64_t> sums;
  for (auto& each : added) sums.insert(each.result<0>());
  BOOST_TEST(sums.size() == many);
  BOOST_TEST(requests() <= 2 * many + 5, "a read and a write each; a heartbeat here and there");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(crowds_of_requests, ensemble_case)

// The link holds most of them back until answers have come, and each answer proves that the session lived when its
// request was sent.
BOOST_AUTO_TEST_CASE(many_requests_at_once_cost_no_ownership) {
  auto with = far_options();
  with.timeout = 4s;
  auto far = connect_far(with);
  lock of(far, "/burst");
  auto held = must(run(of.async_acquire(tuple)));
  own().set_delay(100ms);
  std::size_t left = 7'000;
  for (auto i = left; i > 0; --i) {
    far.async_exists("/burst", [&](error_code error, auto&&...) {
      if (error) BOOST_TEST(!error, error.message());
      --left;
    });
  }
  BOOST_TEST_REQUIRE(run_until([&] { return left == 0 || held.error(); }, 60s));
  BOOST_TEST(!held.error(), held.error().message());
  own().set_delay(0ms);
  BOOST_TEST_REQUIRE(run_until([&] { return left == 0; }));
  BOOST_TEST(!std::get<0>(run(held.async_release(tuple))));
  settle(zk());
  remove("/burst");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(crowds_at_a_queue, queue_case)

// The first in line takes what comes. It has two takes, so it would never leave the line.
BOOST_AUTO_TEST_CASE(a_queue_object_with_several_takes_lets_others_have_their_turn) {
  std::vector<session> sessions{connect(), connect()};
  std::vector<queue> queues{over(sessions[0]), over(sessions[1])};
  std::vector<int> got(2);
  std::deque<recorder<message>> taking[2];
  const auto take_again = [&](std::size_t who) {
    queues[who].async_take(taking[who].emplace_back(executor()).token());
  };
  for (std::size_t who : {0, 1}) {
    for (int i = 0; i < 2; ++i) take_again(who);
    BOOST_TEST_REQUIRE(run_until([&] { return exists("/q/_idle") && children("/q/_idle").size() == who + 1; }));
  }
  const auto take_what_came = [&] {
    bool any = false;
    for (std::size_t who : {0, 1}) {
      for (auto each = taking[who].begin(); each != taking[who].end();) {
        if (!each->done()) {
          ++each;
          continue;
        }
        expect_done(queues[who], each->result<0>());
        each = taking[who].erase(each);
        ++got[who];
        take_again(who);
        any = true;
        break;
      }
    }
    return any;
  };
  for (int i = 0; i < 12; ++i) {
    put(std::to_string(i));
    BOOST_TEST_REQUIRE(run_until(take_what_came));
  }
  BOOST_TEST(got[0] >= 4);
  BOOST_TEST(got[1] >= 4);
  for (auto& each : taking) {
    for (auto& one : each) one.cancel();
  }
  BOOST_TEST(run_until([&] { return children("/q/_idle").empty(); }));
}

BOOST_AUTO_TEST_SUITE_END()
