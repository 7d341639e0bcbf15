// Several locks that are all busy: the budget is for all of them, and the loss of one ends the acquisition.
#include <algorithm>
#include <map>

#include <zkrecipes/multi_lock.hpp>

#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct several : connected_session {
  /// Answers the requests with which the multi-lock gets in line at this path, behind another member.
  void let_stand_behind_another(const std::string& path) {
    BOOST_TEST_REQUIRE(pending().size() >= 2u);
    backend::reply made;
    made.path = last().pending.front().first.path + "0000000007";
    BOOST_TEST_REQUIRE(made.path.starts_with(path + '/'));
    made.stat.czxid = 107;
    made.stat.ephemeral_owner = 0x77;
    answer(made);
    list({made.path.substr(path.size() + 1), "x-lock-0000000005"});
    while (!pending().empty()) answer();
  }
  void other_goes(const std::string& path) { fire(backend::change::deleted, path + "/x-lock-0000000005"); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(several_locks, several)

BOOST_AUTO_TEST_CASE(what_one_has_waited_for_is_missing_for_the_next) {
  multi_lock both(zk, {"/a", "/b"});
  auto held = both.async_acquire_for(1s, begun());
  let_stand_behind_another("/a");
  advance(600ms);
  BOOST_TEST(!held.done());
  other_goes("/a");
  let_stand_behind_another("/b");
  advance(399ms);
  BOOST_TEST(!held.done());
  advance(1ms);
  BOOST_TEST_REQUIRE(ended_with(held, errc::timed_out));
}

BOOST_AUTO_TEST_CASE(one_that_is_lost_while_another_is_waited_for_ends_it_at_once_and_frees_the_rest) {
  multi_lock all(zk, {"/a", "/b", "/c"});
  auto held = all.async_acquire(begun());
  std::map<std::string, std::string> own;
  for (const auto* path : {"/a", "/b", "/c"}) {
    own[path] = last().pending.front().first.path + "0000000007";
    let_stand_behind_another(path);
    if (path != std::string("/c")) other_goes(path);
  }
  BOOST_TEST(!held.done());
  fire(backend::change::deleted, own["/b"]);
  CHECK_PENDING("get " + own["/b"]);
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(ended_with(held, errc::node_removed));
  auto removals = pending();
  std::sort(removals.begin(), removals.end());
  BOOST_TEST(removals == (strings{"remove " + own["/a"], "remove " + own["/c"]}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_destructor_releases_also_while_somebody_waits_for_a_loss) {
  multi_lock one(zk, {"/a"});
  auto held = one.async_acquire(begun());
  const auto own = last().pending.front().first.path + "0000000007";
  let_stand_behind_another("/a");
  other_goes("/a");
  BOOST_TEST_REQUIRE(held.done());
  auto lost = held.result<0>().async_lost(begun());
  BOOST_TEST(!lost.done());
  held.result<0>() = multi_ownership();
  settle();
  CHECK_PENDING("remove " + own);
  BOOST_TEST_REQUIRE(ended_with(lost, errc::closed));
}

BOOST_AUTO_TEST_CASE(a_release_goes_on_when_the_object_is_destroyed) {
  multi_lock both(zk, {"/a", "/b"});
  auto acquired = both.async_acquire(begun());
  for (const auto* path : {"/a", "/b"}) {
    let_stand_behind_another(path);
    other_goes(path);
  }
  BOOST_TEST_REQUIRE(acquired.done());
  auto released = acquired.result<0>().async_release(begun());
  BOOST_TEST(pending().size() == 1u);  // the removal of the last acquired one
  acquired.result<0>() = multi_ownership();
  settle();
  answer();
  BOOST_TEST(!released.done());
  BOOST_TEST(pending().size() == 1u);
  answer();
  BOOST_TEST_REQUIRE(succeeded(released));
}

BOOST_AUTO_TEST_CASE(all_are_valid_until_one_of_them_is_not) {
  BOOST_TEST(!multi_ownership().valid());
  multi_lock both(zk, {"/a", "/b"});
  auto acquired = both.async_acquire(begun());
  const auto own = last().pending.front().first.path + "0000000007";
  for (const auto* path : {"/a", "/b"}) {
    let_stand_behind_another(path);
    other_goes(path);
  }
  BOOST_TEST_REQUIRE(acquired.done());
  const auto& held = acquired.result<0>();
  BOOST_TEST(held.valid());
  const auto before = now();
  state().now = held.valid_until();
  BOOST_TEST(!held.valid(), "by the clock alone");
  state().now = before;
  BOOST_TEST(held.valid());
  fire(backend::change::deleted, own);
  fail(errc::no_node);
  BOOST_TEST(!held.valid());
}

BOOST_AUTO_TEST_SUITE_END()
