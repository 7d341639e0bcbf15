// Members of a shared balance: the spread, joins, leaves, losses of sessions and of nodes.
#include <algorithm>
#include <memory>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "ensemble/balance_walker.hpp"
#include "ensemble/ensemble_case.hpp"
#include "session/paths.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

const std::string limit_node = std::string(pace_path) + "/limit";

class balance_members : public ensemble_case {
 public:
  void teardown() {
    for (auto& each : walkers) each->pace.stop();
    run_until([&] { return std::ranges::all_of(walkers, [](const auto& each) { return each->ended.done(); }); });
    walkers.clear();
    if (exists(members_node)) {
      BOOST_TEST(run_until([&] { return children(members_node).empty(); }), "a member is left");
    }
    if (exists(pace_path)) run(zk().async_remove_with_children(pace_path, tuple));
    ensemble_case::teardown();
  }

  balance_walker& add(const std::string& name) { return add(connect(), name); }
  balance_walker& add(session over, const std::string& name, std::uint64_t range = pace_range) {
    return *walkers.emplace_back(std::make_unique<balance_walker>(std::move(over), name, range));
  }
  void stop(balance_walker& which) {
    which.pace.stop();
    wait([&] { return which.ended.done(); });
  }
  /// Looks at the spread of the live tracks at each step of the wait.
  void wait(const std::function<bool()>& condition, std::source_location where = std::source_location::current()) {
    const auto holds = [&] {
      look_at_spread();
      return condition();
    };
    BOOST_TEST_REQUIRE(run_until(holds), "in vain from line " << where.line());
    BOOST_TEST(largest_spread <= pace_range);
  }
  void look_at_spread() {
    std::uint64_t lowest = ~std::uint64_t{0};
    std::uint64_t highest = 0;
    for (const auto& each : walkers) {
      if (!each->is_live()) continue;
      lowest = std::min(lowest, each->track.steps());
      highest = std::max(highest, each->track.steps());
    }
    if (highest > lowest) largest_spread = std::max(largest_spread, highest - lowest);
  }
  static void go(balance_walker& which, int steps) {
    for (int i = 0; i < steps; ++i) which.track.async_move([](error_code) {});
  }

  std::vector<std::unique_ptr<balance_walker>> walkers;
  std::uint64_t largest_spread = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shared_balances, balance_members)

BOOST_AUTO_TEST_CASE(one_member_moves_on_and_on) {
  auto& one = add("one");
  one.walk();
  wait([&] { return one.made >= 10 * pace_range; });
  BOOST_TEST(one.pace.status().is_pacer);
  one.walks = false;
}

BOOST_AUTO_TEST_CASE(no_two_tracks_differ_by_more_than_the_range) {
  auto& fast = add("fast");
  auto& slow = add("slow");
  wait([&] { return fast.pace.status().is_member && slow.pace.status().is_member; });
  fast.walk();
  wait([&] { return fast.track.steps() == pace_range; });
  settle(fast.zk);
  settle(slow.zk);
  settle(fast.zk);
  BOOST_TEST(fast.track.steps() == pace_range);
  BOOST_TEST(fast.pace.status().tracks[0].waiting);
  go(slow, 10);
  wait([&] { return fast.track.steps() == pace_range + 10; });
  go(slow, 9);  // no granule more
  wait([&] { return slow.track.steps() == 19u; });
  BOOST_TEST(fast.track.steps() == pace_range + 10);
  slow.walk();
  wait([&] { return slow.made >= 500 && fast.made >= 500; });
  BOOST_TEST(largest_spread <= pace_range);
  BOOST_TEST(largest_spread > pace_range / 2);
  fast.walks = slow.walks = false;
}

BOOST_AUTO_TEST_CASE(a_newcomer_joins_beside_members_that_never_rest) {
  auto& a = add("a");
  auto& b = add("b");
  a.walk();
  b.walk();
  wait([&] { return a.made >= 200 && b.made >= 200; });
  auto& late = add("late");
  wait([&] { return late.pace.status().is_member; });
  BOOST_TEST(late.track.steps() >= 200 - pace_range);
  BOOST_TEST(a.track.steps() <= late.track.steps() + pace_range);
  const auto limit = late.track.steps() + pace_range;
  wait([&] { return a.track.steps() == limit && b.track.steps() == limit; });  // it holds them up until it moves
  late.walk();
  wait([&] { return late.made >= 200; });
  BOOST_TEST(late.pace.status().joins == 1u);
}

BOOST_AUTO_TEST_CASE(one_that_leaves_is_waited_for_no_more) {
  auto& stays = add("stays");
  auto& goes = add("goes");
  wait([&] { return stays.pace.status().is_member && goes.pace.status().is_member; });
  stays.walk();
  wait([&] { return stays.track.steps() == pace_range; });
  goes.track.leave();
  wait([&] { return stays.track.steps() >= 3 * pace_range; });
  wait([&] { return !goes.pace.status().is_member && children(members_node).size() == 1; });
  goes.track = goes.pace.track("again");
  wait([&] { return goes.pace.status().is_member; });
  BOOST_TEST(goes.track.steps() >= 2 * pace_range);
  stop(goes);
  BOOST_TEST(!goes.ended.error());
  BOOST_TEST(!goes.track.try_move());
  const auto before = stays.track.steps();
  wait([&] { return stays.track.steps() >= before + 3 * pace_range; });
}

BOOST_AUTO_TEST_CASE(a_lost_session_is_followed_by_another_membership) {
  auto& stays = add("stays");
  auto& dies = add("dies");
  wait([&] { return stays.pace.status().is_member && dies.pace.status().is_member; });
  stays.walk();
  cluster().expire(dies.zk.status().session_id);
  // Here an operator ends the session, before the lease has. Until the member is told of that, the other one can be
  // ahead of it without limit.
  BOOST_TEST_REQUIRE(run_until([&] { return dies.pace.status().joins == 2 && dies.pace.status().is_member; }));
  dies.walk();
  wait([&] { return dies.made >= 100 && stays.made >= 100; });
}

BOOST_AUTO_TEST_CASE(one_that_is_cut_off_stops_and_is_waited_for_until_its_session_has_ended) {
  auto& stays = add("stays");
  auto with = far_options();
  with.timeout = 2s;
  auto& cut = add(connect_far(with), "cut");
  wait([&] { return stays.pace.status().is_member && cut.pace.status().is_member; });
  stays.walk();
  cut.walk();
  wait([&] { return cut.made >= 50; });
  disconnect(cut.zk);
  wait([&] { return !cut.is_live(); });
  const auto stopped_at = cut.track.steps();
  wait([&] { return stays.track.steps() > stopped_at + 4 * pace_range; });
  BOOST_TEST(cut.track.steps() == stopped_at);
  BOOST_TEST(!cut.track.try_move());
  reconnect();
  wait([&] { return cut.pace.status().joins == 2; });
  BOOST_TEST(cut.track.steps() > stopped_at + 2 * pace_range);
  const auto made = cut.made;
  wait([&] { return cut.made >= made + 100; });
}

BOOST_AUTO_TEST_CASE(an_own_node_that_was_removed_is_made_again) {
  auto& one = add("one");
  auto& two = add("two");
  wait([&] { return one.pace.status().is_member && two.pace.status().is_member; });
  one.walk();
  two.walk();
  wait([&] { return one.made >= 50 && two.made >= 50; });
  for (const auto& each : children(members_node)) remove(members_node + '/' + each);
  wait([&] { return one.pace.status().joins == 2 && two.pace.status().joins == 2; });
  const auto before = std::min(one.made, two.made);
  wait([&] { return one.made >= before + 200 && two.made >= before + 200; });
}

BOOST_AUTO_TEST_CASE(moves_go_on_after_the_whole_path_was_removed) {
  auto& one = add("one");
  auto& two = add("two");
  wait([&] { return one.pace.status().is_member && two.pace.status().is_member; });
  one.walk();
  wait([&] { return one.track.steps() == pace_range; });  // it waits
  while (exists(pace_path)) run(zk().async_remove_with_children(pace_path, tuple));
  wait([&] { return one.pace.status().joins == 2 && two.pace.status().joins == 2; });
  two.walk();
  wait([&] { return one.made >= 200 && two.made >= 200; });
}

BOOST_AUTO_TEST_CASE(a_limit_that_was_removed_ends_the_runs_and_is_not_made_again) {
  auto& one = add("one");
  auto& two = add("two");
  wait([&] { return one.pace.status().is_member && two.pace.status().is_member; });
  one.walk();
  remove(limit_node);
  wait([&] { return one.ended.done() && two.ended.done(); });
  BOOST_TEST((one.ended.error() == errc::no_node), one.ended.error().message());
  BOOST_TEST((two.ended.error() == errc::no_node), two.ended.error().message());
  BOOST_TEST((one.moved == errc::closed));
  BOOST_TEST(!exists(limit_node));
  BOOST_TEST(children(members_node).empty());
}

BOOST_AUTO_TEST_CASE(what_is_no_limit_ends_the_runs_and_is_never_overwritten) {
  auto& one = add("one");
  auto& two = add("two");
  wait([&] { return one.pace.status().is_member && two.pace.status().is_member; });
  transaction swap;
  swap.remove(limit_node).create(limit_node, "not yours");
  BOOST_TEST(!std::get<0>(run(zk().async_commit(std::move(swap), tuple))));
  one.walk();
  two.walk();
  wait([&] { return one.ended.done() && two.ended.done(); });
  BOOST_TEST((one.ended.error() == errc::foreign_data), one.ended.error().message());
  BOOST_TEST((two.ended.error() == errc::foreign_data), two.ended.error().message());
  BOOST_TEST(get(limit_node).data == "not yours");
}

BOOST_AUTO_TEST_CASE(another_range_is_refused) {
  auto& one = add("one");
  wait([&] { return one.pace.status().is_member; });
  auto& other = add(connect(), "other", pace_range + 1);
  wait([&] { return other.ended.done(); });
  BOOST_TEST((other.ended.error() == errc::size_mismatch), other.ended.error().message());
  one.walk();
  wait([&] { return one.made >= 2 * pace_range; });
}

BOOST_AUTO_TEST_CASE(a_member_writes_once_in_a_granule_and_the_pacer_once_more) {
  const auto writes = std::make_shared<int>(0);  // the sessions outlive this function
  auto with = options();
  with.trace = [writes](const trace_event& event) {
    *writes += event.operation == "set" || event.operation == "multi" ? 1 : 0;
  };
  auto& one = add(connect(with), "one");
  auto& two = add(connect(with), "two");
  wait([&] { return one.pace.status().is_member && two.pace.status().is_member; });
  settle(one.zk);
  settle(two.zk);
  const auto before = *writes;
  constexpr std::uint64_t granules = 20;
  for (std::uint64_t i = 0; i < granules; ++i) {
    go(one, pace_range / 4);
    go(two, pace_range / 4);
    const auto limit = pace_range + (i + 1) * pace_range / 4;
    wait([&] { return one.pace.status().limit == limit && two.pace.status().limit == limit; });
  }
  BOOST_TEST(*writes - before <= static_cast<int>(3 * granules + granules / 2));  // catch-ups, too, if servers are slow
  BOOST_TEST(*writes - before >= static_cast<int>(3 * granules));
}

BOOST_AUTO_TEST_SUITE_END()
