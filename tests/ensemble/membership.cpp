// Groups: members, and nodes that only look like members.
#include <deque>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/membership.hpp>

#include "ensemble/ensemble_case.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

class groups : public ensemble_case {
 public:
  void teardown() {
    remove("/g");  // throws, which fails the case, if a member is left
    ensemble_case::teardown();
  }

  joined_member join(membership& group, const std::string& name, const std::string& data = {}) {
    return must(run(group.async_join(name, data, tuple)));
  }
  error_code join_error(membership& group, const std::string& name, const std::string& data = {}) {
    return std::get<0>(run(group.async_join(name, data, tuple)));
  }
  void leave(joined_member member) { BOOST_TEST(!std::get<0>(run(member.async_leave(tuple)))); }
  children_snapshot current(children_view& view) { return std::get<1>(run(view.async_current(tuple))); }
  children_change change(children_view& view, const children_snapshot& seen) {
    return must(run(view.async_change(seen, tuple)));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(memberships, groups)

BOOST_AUTO_TEST_CASE(joins_updates_and_leaves_are_seen) {
  session other = connect();
  membership ours(zk(), "/g");
  membership theirs(other, "/g");
  auto me = join(ours, "me", "1");
  catch_up(other);  // its server may lag behind
  auto view = theirs.watch();
  auto seen = current(view);
  BOOST_TEST_REQUIRE(seen.nodes.size() == 1u);
  BOOST_TEST(seen.nodes[0]->name == "me");
  BOOST_TEST(seen.nodes[0]->data == "1");
  BOOST_TEST(seen.nodes[0]->stat.ephemeral_owner == zk().status().session_id);
  BOOST_TEST(!std::get<0>(run(me.async_update("2", tuple))));
  auto updated = change(view, seen);
  BOOST_TEST_REQUIRE(updated.changed.size() == 1u);
  BOOST_TEST(updated.changed[0]->data == "2");
  leave(std::move(me));
  BOOST_TEST(change(view, updated.now).removed.size() == 1u);
}

BOOST_AUTO_TEST_CASE(an_expired_member_joins_again_with_its_last_data) {
  session other = connect();
  membership theirs(other, "/g");
  auto they = join(theirs, "they", "1");
  BOOST_TEST(!std::get<0>(run(they.async_update("2", tuple))));
  catch_up(zk());
  auto view = membership(zk(), "/g").watch();
  auto seen = current(view);
  cluster().expire(other.status().session_id);
  BOOST_TEST_REQUIRE(run_until([&] { return they.status().created == 2; }));
  auto now = change(view, seen);
  while (now.now.nodes.empty()) now = change(view, now.now);
  BOOST_TEST(now.now.nodes[0]->data == "2");
  BOOST_TEST(now.now.nodes[0]->stat.czxid > seen.nodes[0]->stat.czxid);
  leave(std::move(they));
}

BOOST_AUTO_TEST_CASE(a_name_has_one_owner) {
  auto other = std::make_unique<session>(connect());
  membership theirs(*other, "/g");
  membership ours(zk(), "/g");
  membership patient(zk(), "/g", {.wait_for_name = true});
  auto they = join(theirs, "name", "theirs");
  BOOST_TEST(join_error(ours, "name", "ours") == errc::busy);
  recorder<joined_member> cut_short(executor());
  patient.async_join("name", "ours", cut_short.token());
  recorder<joined_member> waiting(executor());
  patient.async_join("name", "ours", waiting.token());
  settle(zk());
  BOOST_TEST(!waiting.done());
  cut_short.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return cut_short.done(); }));
  BOOST_TEST(cut_short.error() == asio::error::operation_aborted);
  BOOST_TEST(get("/g/name").data == "theirs");
  leave(std::move(they));
  BOOST_TEST_REQUIRE(run_until([&] { return waiting.done(); }));
  BOOST_TEST(!waiting.error());
  BOOST_TEST(get("/g/name").data == "ours");
  leave(std::move(waiting.result<0>()));
}

BOOST_AUTO_TEST_CASE(a_bad_name_is_refused_and_a_foreign_node_is_no_member) {
  membership group(zk(), "/g");
  for (const auto* name : {"", "a/b", "/", ".", "..", "a\n"})
    BOOST_TEST(join_error(group, name) == errc::bad_arguments);
  BOOST_TEST(join_error(group, "a", std::string(1'000'001, 'x')) == errc::too_large);
  BOOST_CHECK_THROW(membership(zk(), "g"), std::invalid_argument);
  auto me = join(group, "me");
  create("/g/config", "of somebody else");
  BOOST_TEST(join_error(group, "config") == errc::foreign_data);
  auto view = group.watch();
  auto seen = current(view);
  BOOST_TEST_REQUIRE(seen.nodes.size() == 1u);
  BOOST_TEST(seen.nodes[0]->name == "me");
  remove("/g/config");
  leave(std::move(me));
}

BOOST_AUTO_TEST_CASE(a_cancelled_join_leaves_no_node) {
  membership close_by(zk(), "/g");
  leave(join(close_by, "first"));
  auto far = connect_far();
  membership group(far, "/g");
  own().set_delay(50ms);
  recorder<joined_member> joining(executor());
  const auto before = far.counters().requests;
  group.async_join("me", "", joining.token());
  BOOST_TEST(run_until([&] { return far.counters().requests > before; }));
  joining.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return joining.done(); }));
  BOOST_TEST(joining.error() == asio::error::operation_aborted);
  own().set_delay(0ms);
  settle(far);
  BOOST_TEST(run_until([&] { return children("/g").empty(); }));
}

BOOST_AUTO_TEST_CASE(a_thousand_members) {
  membership group(zk(), "/g");
  std::deque<joined_member> members;
  std::size_t joined = 0;
  for (int i = 0; i < 1'000; ++i) {
    group.async_join("m" + std::to_string(i), "data", [&](error_code error, joined_member member) {
      BOOST_TEST(!error, error.message());
      members.push_back(std::move(member));
      ++joined;
    });
  }
  BOOST_TEST_REQUIRE(run_until([&] { return joined == 1'000; }));
  request_log log;
  auto watching = connect_far(log.noted(far_options()));
  constexpr auto round_trip = 400ms;
  own().set_delay(round_trip / 2);
  log.clear();
  const auto began = std::chrono::steady_clock::now();
  auto view = membership(watching, "/g").watch();
  BOOST_TEST(current(view).nodes.size() == 1'000u);
  const auto took = std::chrono::steady_clock::now() - began;
  BOOST_TEST((took >= 2 * round_trip));
  BOOST_TEST((took < 2 * round_trip + 2s), "two round trips, not one for each");
  BOOST_TEST(log.count("children") == 1);
  BOOST_TEST(log.count("get") == 1'000);
  own().set_delay(0ms);
  members.clear();
  BOOST_TEST(run_until([&] { return view.snapshot().nodes.empty(); }));
}

BOOST_AUTO_TEST_SUITE_END()
