// Members of a shared balance: the spread, joins, leaves, losses of sessions and of nodes.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/flow/shared_balance.hpp>

#include "ensemble/ensemble_case.hpp"
#include "ensemble/request_log.hpp"
#include "session/paths.hpp"
#include "support/coroutine.hpp"

namespace zkrecipes::test {

// A member of a shared balance that moves as often as it may, for the tests with several members in one process.

inline constexpr const char* pace_path = "/pace";
inline constexpr std::uint64_t pace_range = 40;
inline const std::string members_node = std::string(pace_path) + "/members";

struct balance_walker {
  balance_walker(session over, const std::string& name, std::uint64_t range = pace_range)
      : zk(std::move(over)), pace(zk, pace_path, {.id = name, .range = range}), ended(zk.get_executor()) {
    pace.async_run(ended.token());
    track = pace.track(name);
  }

  /// Begins to move, without an end.
  void walk() {
    walks = true;
    track.async_move([this](error_code error) {
      moved = error;
      if (error) walks = false;
      if (error) return;
      ++made;
      if (walks) walk();
    });
  }
  bool is_live() const {
    const auto seen = pace.status();
    return seen.is_member && seen.valid_until > lease_clock::now();
  }

  session zk;
  shared_balance pace;
  recorder<> ended;
  shared_balance_track track;
  bool walks = false;
  error_code moved;
  std::uint64_t made = 0;
};

}  // namespace zkrecipes::test

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

// A shared balance with many tracks and many nodes, and with nodes that can not be read.

namespace {

const acl unreadable{{perm_all & ~perm_read, "world", "anyone"}};

/// A track with a number of steps to make.
struct runner {
  bool is_done() const { return failed || made == most; }
  bool is_live() const { return owner->is_live() && !is_done(); }

  balance_walker* owner = nullptr;
  shared_balance_track track;
  int most = 0;
  int made = 0;
  bool failed = false;
};
using runners = std::vector<std::unique_ptr<runner>>;

std::uint64_t spread_of(const runners& all) {
  std::uint64_t lowest = ~std::uint64_t{0}, highest = 0;
  for (const auto& each : all) {
    if (!each->is_live()) continue;
    lowest = std::min(lowest, each->track.steps());
    highest = std::max(highest, each->track.steps());
  }
  return highest > lowest ? highest - lowest : 0;
}

class balance_crowd : public ensemble_case {
 public:
  void teardown() {
    for (auto& each : walkers) each->pace.stop();
    run_until([&] { return std::ranges::all_of(walkers, [](const auto& each) { return each->ended.done(); }); });
    walkers.clear();
    if (exists(pace_path)) run(zk().async_remove_with_children(pace_path, tuple));
    ensemble_case::teardown();
  }

  balance_walker& add(session over, const std::string& name) {
    return *walkers.emplace_back(std::make_unique<balance_walker>(std::move(over), name));
  }
  balance_walker& add(const std::string& name) { return add(connect(), name); }
  void wait(const std::function<bool()>& condition, std::source_location where = std::source_location::current()) {
    BOOST_TEST_REQUIRE(run_until(condition), "in vain from line " << where.line());
  }
  void all_are_members() {
    wait([&] { return std::ranges::all_of(walkers, [](const auto& each) { return each->pace.status().is_member; }); });
  }
  void all_go_on(std::uint64_t steps) {
    for (auto& each : walkers) each->made = 0;
    for (auto& each : walkers) {
      if (!each->walks) each->walk();
    }
    wait([&] { return std::ranges::all_of(walkers, [&](const auto& each) { return each->made >= steps; }); });
  }
  /// Persistent nodes beside the members, which count for nothing.
  void leave_behind(const std::string& prefix, int how_many) {
    constexpr int at_once = 500;
    for (int i = 0; i < how_many; i += at_once) {
      transaction some;
      for (int j = i; j < std::min(how_many, i + at_once); ++j) {
        some.create(members_node + '/' + prefix + std::to_string(j), "left behind");
      }
      BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_commit(std::move(some), tuple))));
    }
  }
  /// A node of a session at the place of a member, which nobody may read.
  void create_hidden(session& owner, const std::string& name) {
    const std::string data = R"({"zkrecipes":"shared_balance_member","id":"hidden","floor":0})";
    must(run(owner.async_create(members_node + '/' + name, data, create_mode::ephemeral, unreadable, tuple)));
  }
  void set_rights(session& by, const std::string& path, const acl& rights) {
    must(run(by.async_set_acl(path, rights, any_version, tuple)));
  }
  std::vector<std::string> member_names() {
    auto names = children(members_node);
    std::erase_if(names, [](const auto& each) { return !each.starts_with("member-"); });
    std::ranges::sort(names);
    return names;
  }
  /// The walker with the first node in the list. It is the pacer, once all walkers have read all nodes.
  std::string first_member() { return members_node + '/' + member_names().front(); }
  /// Adds one whose node comes ahead of those that stand, or behind the first of them. The names are random.
  balance_walker& add_at(bool is_first, const session_options& with) {
    for (;;) {
      const auto before = member_names();
      auto& made = add(connect(with), "late");
      wait([&] { return member_names().size() == before.size() + 1; });
      if ((member_names().front() != before.front()) == is_first) return made;
      made.pace.stop();
      wait([&] { return made.ended.done() && member_names() == before; });
      walkers.pop_back();
    }
  }
  balance_walker* pacer() {
    const auto found = std::ranges::find_if(walkers, [](const auto& each) { return each->pace.status().is_pacer; });
    return found == walkers.end() ? nullptr : found->get();
  }
  long pacers() {
    return std::ranges::count_if(walkers, [](const auto& each) { return each->pace.status().is_pacer; });
  }

  std::vector<std::unique_ptr<balance_walker>> walkers;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shared_balance_crowds, balance_crowd)

BOOST_AUTO_TEST_CASE(fifty_tracks_that_join_and_leave_at_once_stay_within_the_range) {
  for (int i = 0; i < 5; ++i) add(std::to_string(i));
  all_are_members();
  constexpr auto granule = pace_range / 4;
  runners all;
  std::uint64_t spread = 0;
  std::function<void(runner&)> go = [&](runner& who) {
    who.track.async_move([&](error_code error) {
      who.failed = static_cast<bool>(error);
      if (!error) ++who.made;
      spread = std::max(spread, spread_of(all));
      if (error || who.made == who.most) return who.track.leave();
      go(who);
    });
  };
  for (auto& each : walkers) each->track.leave();
  for (int round = 0; round < 4; ++round) {
    all.clear();
    for (int i = 0; i < 50; ++i) {
      auto& who = *all.emplace_back(std::make_unique<runner>());
      who.track = walkers[static_cast<std::size_t>(i % 5)]->pace.track(std::to_string(i));
      who.owner = walkers[static_cast<std::size_t>(i % 5)].get();
      who.most = i < 30 ? 5 + i : 100 + i;  // some leave early
    }
    all_are_members();  // a join can move a track forward
    auto& still = *all.back();
    const auto place = still.track.steps();
    spread = 0;
    for (auto& each : all) {
      if (each.get() != &still) go(*each);
    }
    // The others can not finish without it: they get as far from it as they may, and no further.
    wait([&] { return spread > pace_range - granule; });
    BOOST_TEST(still.track.steps() == place);
    go(still);
    wait([&] { return std::ranges::all_of(all, [](const auto& each) { return each->is_done(); }); });
    for (const auto& each : all) BOOST_TEST(!each->failed);
    BOOST_TEST(spread <= pace_range);
    if (round % 2 == 1) wait([&] { return children(members_node).empty(); });  // the next ones join anew
  }
}

BOOST_AUTO_TEST_CASE(ten_thousand_nodes_that_are_no_members_hold_nobody_up) {
  add("before");
  all_are_members();
  leave_behind("member-0-", 5000);  // ahead of all members by their names
  leave_behind("anything-", 5000);
  request_log seen;
  auto with = options();
  with.trace = seen.hook();
  add(connect(with), "late");
  all_are_members();
  all_go_on(2 * pace_range);
  wait([&] { return pacer() != nullptr; });
  for (auto& each : walkers) each->walks = false;
  const auto gets = seen.count("get");
  BOOST_TEST_MESSAGE(gets << " reads, " << seen.count("children") << " lists by the one that came late");
  BOOST_TEST(gets <= 2 * 5000 + 1000, "each node is read once or twice");
}

BOOST_AUTO_TEST_CASE(a_node_that_can_not_be_read_ends_nobody_and_is_named) {
  add("one");
  add("two");
  all_are_members();
  all_go_on(pace_range);
  auto owner = connect();
  const std::string hidden = members_node + "/member-0";  // the first
  create_hidden(owner, "member-0");
  const auto name_it = [&] {
    return std::ranges::all_of(walkers, [&](const auto& each) {
      const auto seen = each->pace.status();
      return seen.error == errc::no_auth && seen.obstacle == hidden;
    });
  };
  wait(name_it);  // both are aside
  add("late");
  all_are_members();
  for (const auto& each : walkers) BOOST_TEST(!each->ended.done());
  owner = session();  // its node goes
  wait([&] { return !exists(hidden); });
  all_go_on(2 * pace_range);
  wait([&] { return pacers() == 1; });
  for (const auto& each : walkers) BOOST_TEST(!each->pace.status().error);
  for (auto& each : walkers) each->walks = false;
}

BOOST_AUTO_TEST_CASE(all_go_on_while_only_its_owner_can_read_the_node_of_the_first_member) {
  for (const auto* each : {"one", "two", "three"}) {
    auto with = options();
    with.digest.push_back({each, "secret"});
    add(connect(with), each);
  }
  all_are_members();
  all_go_on(2 * pace_range);
  wait([&] { return pacers() == 1; });
  const auto hidden = first_member();
  set_rights(pacer()->zk, hidden, creator_acl());
  for (const bool is_first : {false, true}) {
    add_at(is_first, options());  // it has not read that node before, and can not
    all_are_members();
    all_go_on(4 * pace_range);
    for (const auto& each : walkers) BOOST_TEST(!each->ended.done());
    BOOST_TEST((first_member() != hidden) == is_first);
  }
  wait([&] { return exists(members_node + "/aside-" + first_member().substr(members_node.size() + 1)); });
  for (auto& each : walkers) each->walks = false;
}

BOOST_AUTO_TEST_CASE(a_pacer_that_can_not_read_its_own_node_comes_back_with_another) {
  for (const auto* each : {"one", "two", "three"}) add(each);
  all_are_members();
  all_go_on(2 * pace_range);
  wait([&] { return pacers() == 1; });
  auto& first = *pacer();
  set_rights(zk(), first_member(), unreadable);
  all_go_on(4 * pace_range);
  BOOST_TEST(!first.ended.done(), first.ended.error().message());
  for (auto& each : walkers) each->walks = false;
}

BOOST_AUTO_TEST_SUITE_END()
