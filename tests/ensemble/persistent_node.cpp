// A node that is kept alive, and what must not happen to it.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/persistent_node.hpp>

#include "ensemble/ensemble_case.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

class kept_nodes : public ensemble_case {
 public:
  void start(const persistent_node& node) {
    auto result = run(const_cast<persistent_node&>(node).async_started(tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(result), std::get<0>(result).message());
  }
  void close(persistent_node& node) {
    auto result = run(node.async_close(tuple));
    BOOST_TEST(!std::get<0>(result), std::get<0>(result).message());
  }
  error_code set(persistent_node& node, const std::string& data) {
    return std::get<0>(run(node.async_set_data(data, tuple)));
  }
  /// Another session's node stands in the place of ours. The object has not heard of that, because the proxy holds back
  /// what the server sends.
  persistent_node keep_until_replaced(session& far) {
    persistent_node node(far, "/a", "one");
    start(node);
    own().set_delay(200ms);
    remove("/a");
    create("/a", "theirs", create_mode::ephemeral);
    BOOST_TEST(node.status().present);
    return node;
  }
  /// Waits until the status meets this condition.
  bool becomes(persistent_node& node, const std::function<bool(const persistent_node_status&)>& wanted) {
    return run_until([&] { return wanted(node.status()); });
  }
  void expire(const session& which) { cluster().expire(which.status().session_id); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(persistent_nodes, kept_nodes)

BOOST_AUTO_TEST_CASE(it_stands_with_its_parents_and_goes_when_closed) {
  persistent_node node(zk(), "/a/b", "one");
  start(node);
  const auto there = get("/a/b");
  BOOST_TEST(there.data == "one");
  BOOST_TEST(there.stat.ephemeral_owner == zk().status().session_id);
  BOOST_TEST(node.status().present);
  BOOST_TEST(node.status().czxid == there.stat.czxid);
  BOOST_TEST(node.status().created == 1u);
  close(node);
  BOOST_TEST(!exists("/a/b"));
  BOOST_TEST(!node.status().present);
  BOOST_TEST(node.status().error == errc::closed);
  BOOST_TEST(set(node, "late") == errc::closed);
  remove("/a");
}

BOOST_AUTO_TEST_CASE(one_that_is_dropped_goes_too) {
  {
    persistent_node first(zk(), "/one", "");
    persistent_node other(zk(), "/other", "");
    start(first);
    start(other);
    first = std::move(other);
    BOOST_TEST(run_until([&] { return !exists("/one"); }));
    BOOST_TEST(exists("/other"));
    persistent_node never_waited_for(zk(), "/third", "");
  }
  BOOST_TEST(run_until([&] { return children("/").empty(); }));
}

BOOST_AUTO_TEST_CASE(an_expired_session_takes_it_and_the_next_brings_it_back) {
  auto with = options();
  session own_session = connect(with);
  persistent_node node(own_session, "/a", "one");
  start(node);
  BOOST_TEST(!set(node, "two"));
  const auto first = get("/a").stat;
  expire(own_session);
  BOOST_TEST_REQUIRE(becomes(node, [](const auto& s) { return s.created == 2 && s.present && !s.error; }));
  const auto second = get("/a");
  BOOST_TEST(second.stat.czxid > first.czxid);
  BOOST_TEST(second.data == "two", "the data set last, not the first (CURATOR-154)");
  BOOST_TEST(second.stat.ephemeral_owner == own_session.status().session_id);
  close(node);
}

BOOST_AUTO_TEST_CASE(a_mere_reconnect_writes_nothing) {
  request_log log;
  auto far = connect_far(log.noted(far_options()));
  persistent_node node(far, "/a", "one");
  start(node);
  const auto before = get("/a").stat;
  log.clear();
  for (int i = 0; i < 3; ++i) {
    const auto looks = log.count("get");
    disconnect(far);
    BOOST_TEST(node.status().present, "the session lives on");
    reconnect();
    BOOST_TEST_REQUIRE(run_until([&] { return log.count("get") > looks; }));
  }
  BOOST_TEST(log.count("create") == 0);
  BOOST_TEST(log.count("set") == 0);
  BOOST_TEST(log.count("remove") == 0);
  BOOST_TEST((get("/a").stat == before));
  BOOST_TEST(node.status().created == 1u);
  close(node);
}

BOOST_AUTO_TEST_CASE(data_set_without_a_connection_arrives_with_the_next) {
  auto far = connect_far();
  persistent_node node(far, "/a", "one");
  start(node);
  disconnect(far);
  recorder<> first(executor());
  recorder<> second(executor());
  node.async_set_data("two", first.token());
  node.async_set_data("three", second.token());
  reconnect();
  BOOST_TEST_REQUIRE(run_until([&] { return first.done() && second.done(); }));
  BOOST_TEST(!first.error());
  BOOST_TEST(!second.error());
  BOOST_TEST(get("/a").data == "three");
  close(node);
}

BOOST_AUTO_TEST_CASE(a_create_whose_reply_is_lost_is_settled_by_its_owner) {
  auto far = connect_far();
  own().drop_reply(testcluster::op::create2);
  persistent_node node(far, "/a", "one");
  start(node);
  BOOST_TEST(own().drops() == 1u);
  BOOST_TEST(get("/a").stat.ephemeral_owner == far.status().session_id);
  BOOST_TEST(node.status().czxid == get("/a").stat.czxid);
  own().drop_reply(testcluster::op::set_data);
  BOOST_TEST(!set(node, "two"));
  BOOST_TEST(own().drops() == 2u);
  BOOST_TEST(get("/a").data == "two");
  own().drop_reply(testcluster::op::remove);
  close(node);
  BOOST_TEST(own().drops() == 3u);
  BOOST_TEST(!exists("/a"));
}

BOOST_AUTO_TEST_CASE(closed_while_its_create_is_under_way_it_leaves_nothing) {
  auto far = connect_far();
  own().set_delay(50ms);
  persistent_node node(far, "/a", "one");
  const auto before = far.counters().requests;
  BOOST_TEST(run_until([&] { return far.counters().requests > before; }));
  close(node);
  own().set_delay(0ms);
  BOOST_TEST(!exists("/a"));
}

BOOST_AUTO_TEST_CASE(closed_it_leaves_the_node_of_somebody_else_alone) {
  auto far = connect_far();
  auto node = keep_until_replaced(far);
  close(node);
  own().set_delay(0ms);
  BOOST_TEST(get("/a").data == "theirs");
  remove("/a");
}

BOOST_AUTO_TEST_CASE(nor_does_it_write_there) {
  auto far = connect_far();
  auto node = keep_until_replaced(far);
  BOOST_TEST(set(node, "two") == errc::busy);
  own().set_delay(0ms);
  BOOST_TEST(get("/a").data == "theirs");
  remove("/a");
  BOOST_TEST(becomes(node, [](const auto& now) { return now.present; }));
  BOOST_TEST(get("/a").data == "two");
  close(node);
}

BOOST_AUTO_TEST_CASE(closed_without_a_connection_it_goes_with_the_next) {
  auto far = connect_far();
  persistent_node node(far, "/a", "one");
  start(node);
  disconnect(far);
  recorder<> closed(executor());
  node.async_close(closed.token());
  BOOST_TEST(exists("/a"));
  reconnect();
  BOOST_TEST_REQUIRE(run_until([&] { return closed.done(); }));
  BOOST_TEST(!closed.error());
  BOOST_TEST(!exists("/a"));
}

BOOST_AUTO_TEST_CASE(what_somebody_deletes_comes_back_if_so_desired) {
  persistent_node node(zk(), "/a", "one");
  persistent_node mortal(zk(), "/b", "one", {.restore = false});
  start(node);
  start(mortal);
  remove("/a");
  BOOST_TEST(becomes(node, [](const auto& s) { return s.created == 2 && s.present; }));
  BOOST_TEST(get("/a").data == "one");
  remove("/b");
  BOOST_TEST(becomes(mortal, [](const auto& s) { return s.error == errc::node_removed; }));
  BOOST_TEST(!mortal.status().present);
  BOOST_TEST(set(mortal, "two") == errc::node_removed);
  close(node);
  close(mortal);
}

BOOST_AUTO_TEST_CASE(another_sessions_node_is_waited_out) {
  auto other = std::make_unique<session>(connect());
  auto theirs = std::make_unique<persistent_node>(*other, "/a", "theirs");
  start(*theirs);
  persistent_node node(zk(), "/a", "ours");
  BOOST_TEST(std::get<0>(run(node.async_started(tuple))) == errc::busy);
  BOOST_TEST(get("/a").data == "theirs", "nothing was done to it");
  expire(*other);
  theirs.reset();
  other.reset();
  BOOST_TEST(becomes(node, [](const auto& s) { return s.present && !s.error; }));
  BOOST_TEST(get("/a").data == "ours");
  close(node);
}

BOOST_AUTO_TEST_CASE(a_persistent_node_of_somebody_is_left_alone) {
  create("/a", "theirs");
  persistent_node node(zk(), "/a", "ours");
  BOOST_TEST(std::get<0>(run(node.async_started(tuple))) == errc::foreign_data);
  close(node);
  BOOST_TEST(get("/a").data == "theirs");
  remove("/a");
}

BOOST_AUTO_TEST_CASE(a_persistent_one_is_taken_over_and_removed_at_the_end) {
  create("/a", "old");
  persistent_node node(zk(), "/a", "new", {.mode = create_mode::persistent});
  start(node);
  BOOST_TEST(get("/a").data == "new");
  BOOST_TEST(node.status().created == 0u);
  create("/a/child");
  BOOST_TEST(std::get<0>(run(node.async_close(tuple))) == errc::not_empty);
  remove("/a/child");
  remove("/a");
}

BOOST_AUTO_TEST_CASE(no_permission_is_told_and_does_not_run_hot) {
  must(run(zk().async_create("/p", "", create_mode::persistent,
                             acl{{perm_read | perm_delete | perm_admin, "world", "anyone"}}, tuple)));
  persistent_node node(zk(), "/p/a", "one", {.first_pause = 20ms, .max_pause = 100ms});
  BOOST_TEST(std::get<0>(run(node.async_started(tuple))) == errc::no_auth);
  BOOST_TEST(node.status().error == errc::no_auth);
  const auto before = zk().counters().requests;
  run_until([] { return false; }, 500ms);
  BOOST_TEST(zk().counters().requests - before < 60u, "two requests in 50 ms at the most");
  auto opened = run(zk().async_set_acl("/p", open_acl(), any_version, tuple));
  BOOST_TEST(!std::get<0>(opened));
  BOOST_TEST(becomes(node, [](const auto& s) { return s.present && !s.error; }));
  close(node);
  remove("/p");
}

BOOST_AUTO_TEST_CASE(a_node_that_may_be_made_but_not_written_is_told) {
  create("/a", "theirs");
  const acl readable{{perm_read | perm_admin, "world", "anyone"}};
  forbid_writing("/a", readable);
  persistent_node node(zk(), "/a", "ours", {.mode = create_mode::persistent, .first_pause = 20ms, .max_pause = 50ms});
  BOOST_TEST(std::get<0>(run(node.async_started(tuple))) == errc::no_auth);
  BOOST_TEST(set(node, "later") == errc::no_auth);
  BOOST_TEST(!std::get<0>(run(zk().async_set_acl("/a", open_acl(), any_version, tuple))));
  BOOST_TEST(becomes(node, [](const auto& s) { return s.present && !s.error; }));
  BOOST_TEST(get("/a").data == "later");
  close(node);
}

BOOST_AUTO_TEST_CASE(started_before_the_servers_it_stands_when_they_come) {
  own().refuse(true);
  session far = connect(far_options());
  persistent_node node(far, "/a", "one");
  recorder<> started(executor());
  node.async_started(started.token());
  settle(zk());
  BOOST_TEST(!started.done());
  own().refuse(false);
  BOOST_TEST_REQUIRE(run_until([&] { return started.done(); }));
  BOOST_TEST(!started.error(), "CURATOR-53");
  close(node);
}

BOOST_AUTO_TEST_CASE(a_root_that_is_missing_is_told_and_waited_for) {
  create("/x");
  auto with = options();
  with.root += "/x/y/z";
  with.create_root = false;
  session rooted = connect(with);
  persistent_node node(rooted, "/a", "one", {.max_pause = 200ms});
  BOOST_TEST(std::get<0>(run(node.async_started(tuple))) == errc::no_node, "CURATOR-50");
  create("/x/y");
  create("/x/y/z");  // nobody else makes a missing root, because its path may be mistyped
  BOOST_TEST(becomes(node, [](const auto& s) { return s.present && !s.error; }));
  BOOST_TEST(get("/x/y/z/a").data == "one");
  close(node);
  for (const auto* each : {"/x/y/z", "/x/y", "/x"}) remove(each);
}

BOOST_AUTO_TEST_CASE(a_wait_can_be_cancelled_and_closing_the_session_ends_it) {
  session third = connect();
  persistent_node node(third, "/a", "one");
  start(node);
  recorder<persistent_node_status> change(executor());
  node.async_status_change(node.status().changes, change.token());
  settle(third);
  change.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return change.done(); }));
  BOOST_TEST(change.error() == asio::error::operation_aborted);
  BOOST_TEST(exists("/a"));
  run(third.async_close(tuple));
  BOOST_TEST(becomes(node, [](const auto& s) { return s.error == errc::closed && !s.present; }));
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  BOOST_CHECK_THROW(persistent_node(zk(), "a", ""), std::invalid_argument);
  BOOST_CHECK_THROW(persistent_node(zk(), "/", ""), std::invalid_argument);
  BOOST_CHECK_THROW(persistent_node(zk(), "/a", std::string(1'000'001, 'x')), std::invalid_argument);
  BOOST_CHECK_THROW(persistent_node(zk(), "/a", "", {.mode = create_mode::container}), std::invalid_argument);
  BOOST_CHECK_THROW(persistent_node(zk(), "/a", "", {.first_pause = 0ms}), std::invalid_argument);
  BOOST_CHECK_THROW(persistent_node(zk(), "/a", "", {.first_pause = 2s, .max_pause = 1s}), std::invalid_argument);
  persistent_node node(zk(), "/a", std::string(1'000'000, 'x'));
  start(node);
  BOOST_TEST(set(node, std::string(1'000'001, 'x')) == errc::too_large);
  close(node);
}

BOOST_AUTO_TEST_SUITE_END()
