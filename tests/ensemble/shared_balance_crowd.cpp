// A shared balance with many tracks and many nodes, and with nodes that can not be read.
#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "ensemble/balance_walker.hpp"
#include "ensemble/ensemble_case.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

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
    auto made = run(owner.async_create(members_node + '/' + name, data, create_mode::ephemeral, unreadable, tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(made), std::get<0>(made).message());
  }
  void set_rights(session& by, const std::string& path, const acl& rights) {
    auto set = run(by.async_set_acl(path, rights, any_version, tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(set), std::get<0>(set).message());
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
