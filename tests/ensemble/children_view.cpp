// A view of the children of a node converges, tells differences, and reads as little as it can.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/children_view.hpp>

#include "ensemble/ensemble_case.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

std::string names(const std::vector<child_ptr>& nodes) {
  std::string all;
  for (const auto& each : nodes) all += (all.empty() ? "" : " ") + each->name;
  return all;
}

class views : public ensemble_case {
 public:
  children_snapshot current(children_view& view) { return must(run(view.async_current(tuple))); }
  children_change change(children_view& view, children_snapshot seen) {
    return must(run(view.async_change(std::move(seen), tuple)));
  }
  void set(const std::string& path, const std::string& data) {
    must(run(zk().async_set(path, data, any_version, tuple)));
  }
  void create_many(int from, int to) {
    for (int i = from; i < to;) {
      transaction all;
      for (const int end = std::min(i + 500, to); i < end; ++i) all.create("/g/" + std::to_string(i), "data");
      must(run(zk().async_commit(std::move(all), tuple)));
    }
  }
  void remove_all() {
    for (;;) {
      transaction all;
      auto there = children("/g");
      if (there.empty()) break;
      there.resize(std::min<std::size_t>(there.size(), 500));
      for (const auto& name : there) all.remove("/g/" + name);
      must(run(zk().async_commit(std::move(all), tuple)));
    }
    remove("/g");
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(children_views, views)

BOOST_AUTO_TEST_CASE(one_that_changes_all_the_time_is_shown_all_the_time) {
  auto far = connect_far();
  create("/g");
  create("/g/a", "0");
  own().set_delay(20ms);  // so that there is a change at every read
  bool stop = false;
  bool is_idle = false;
  int writes = 0;
  std::function<void(error_code, node_stat)> write_again = [&](error_code, node_stat) {
    is_idle = stop;
    auto next = [&](error_code error, node_stat now) { write_again(error, now); };
    if (!stop) zk().async_set("/g/a", std::to_string(++writes), any_version, std::move(next));
  };
  write_again({}, {});
  children_view view(far, "/g", {.interval = 20ms});
  auto seen = current(view);
  for (int i = 0; i < 5; ++i) seen = change(view, seen).now;
  stop = true;
  own().set_delay(0ms);
  BOOST_TEST_REQUIRE(run_until([&] { return is_idle; }));
  BOOST_TEST(run_until([&] { return view.snapshot().find("a")->data == std::to_string(writes); }),
             "and in the end as it is");
  remove_all();
}

BOOST_AUTO_TEST_CASE(differences_are_told_against_what_was_seen) {
  create("/g");
  create("/g/a", "1");
  children_view view(zk(), "/g");
  auto seen = current(view);
  BOOST_TEST(seen.exists);
  BOOST_TEST(names(seen.nodes) == "a");
  BOOST_TEST_REQUIRE(seen.find("a"));
  BOOST_TEST(seen.find("a")->data == "1");
  BOOST_TEST(!seen.find("b"));
  create("/g/b", "2");
  auto first = change(view, seen);
  BOOST_TEST(names(first.added) == "b");
  BOOST_TEST(names(first.changed) == "");
  BOOST_TEST(names(first.removed) == "");
  set("/g/a", "3");
  auto second = change(view, first.now);
  BOOST_TEST(names(second.changed) == "a");
  BOOST_TEST(second.changed[0]->data == "3");
  remove("/g/b");
  auto third = change(view, second.now);
  BOOST_TEST(names(third.removed) == "b");
  BOOST_TEST(third.removed[0]->data == "2", "as it was");
  // A caller that missed all changes gets them at once, in one piece.
  auto all = change(view, seen);
  BOOST_TEST(names(all.changed) == "a");
  BOOST_TEST(names(all.added) + names(all.removed) == "");
  BOOST_TEST(names(view.snapshot().nodes) == "a");
  remove("/g/a");
  remove("/g");
}

BOOST_AUTO_TEST_CASE(a_missing_parent_is_seen_to_come_and_go) {
  children_view view(zk(), "/g");
  auto seen = current(view);
  BOOST_TEST(!seen.exists);
  create("/g");
  auto came = change(view, seen);
  BOOST_TEST(came.now.exists);
  create("/g/a");
  auto child = change(view, came.now);
  BOOST_TEST(names(child.added) == "a");
  remove("/g/a");
  remove("/g");
  auto gone = change(view, child.now);
  while (gone.now.exists) gone = change(view, gone.now);
  BOOST_TEST(names(gone.now.nodes) == "");
  create("/g");
  create("/g/b");
  auto again = change(view, gone.now);
  while (again.now.nodes.empty()) again = change(view, again.now);
  BOOST_TEST(names(again.now.nodes) == "b");
  remove("/g/b");
  remove("/g");
}

BOOST_AUTO_TEST_CASE(one_that_was_made_again_unseen_is_another_one) {
  create("/g");
  create("/g/a", "same");
  auto far = connect_far();
  children_view view(far, "/g");
  auto seen = current(view);
  disconnect(far);
  remove("/g/a");
  create("/g/a", "same");
  reconnect();
  auto after = change(view, seen);
  BOOST_TEST(names(after.added) == "a", "same name, data and version");
  BOOST_TEST(names(after.removed) == "a");
  BOOST_TEST(after.added[0]->stat.version == after.removed[0]->stat.version);
  remove("/g/a");
  remove("/g");
}

BOOST_AUTO_TEST_CASE(what_changed_while_cut_off_is_seen_afterwards) {
  create("/g");
  create("/g/a", "1");
  create("/g/b", "1");
  auto far = connect_far();
  children_view view(far, "/g");
  auto seen = current(view);
  disconnect(far);
  set("/g/a", "2");
  remove("/g/b");
  create("/g/c", "1");
  BOOST_TEST(names(view.snapshot().nodes) == "a b", "what was known stays");
  reconnect();
  auto after = change(view, seen);
  BOOST_TEST(names(after.added) == "c");
  BOOST_TEST(names(after.changed) == "a");
  BOOST_TEST(names(after.removed) == "b");
  remove("/g/a");
  remove("/g/c");
  remove("/g");
}

BOOST_AUTO_TEST_CASE(it_lives_on_in_the_next_session) {
  create("/g");
  session third = connect();
  children_view view(third, "/g");
  auto seen = current(view);
  cluster().expire(third.status().session_id);
  BOOST_TEST_REQUIRE(run_until([&] { return third.status().incarnation == 2; }));
  create("/g/a");
  BOOST_TEST(names(change(view, seen).added) == "a");
  remove("/g/a");
  remove("/g");
}

BOOST_AUTO_TEST_CASE(a_thousand_children_cost_two_round_trips_and_one_change_costs_one) {
  create("/g");
  create_many(0, 1'000);
  request_log log;
  auto far = connect_far(log.noted(far_options()));
  constexpr auto delay = 200ms;
  own().set_delay(delay);
  log.clear();
  const auto began = std::chrono::steady_clock::now();
  children_view view(far, "/g");
  auto seen = current(view);
  const auto took = std::chrono::steady_clock::now() - began;
  BOOST_TEST(seen.nodes.size() == 1'000u);
  BOOST_TEST(log.count("children") == 1);
  BOOST_TEST(log.count("get") == 1'000);
  BOOST_TEST(took.count() >= std::chrono::nanoseconds(4 * delay).count());
  BOOST_TEST(took.count() < std::chrono::nanoseconds(4 * delay + 2s).count(), "not one round trip for each");
  own().set_delay(0ms);
  log.clear();
  set("/g/500", "new");
  BOOST_TEST(names(change(view, seen).changed) == "500");
  BOOST_TEST(log.count("children") == 0);
  BOOST_TEST(log.count("get") == 1);
  create_many(1'000, 1'200);
  auto more = change(view, seen);
  while (more.now.nodes.size() < 1'200) more = change(view, more.now);
  remove_all();
}

BOOST_AUTO_TEST_CASE(a_child_that_must_not_be_read_hides_nobody) {
  create("/g");
  create("/g/a", "1");
  must(run(zk().async_create("/g/b", "secret", create_mode::persistent,
                             acl{{perm_write | perm_delete | perm_admin, "world", "anyone"}}, tuple)));
  children_view view(zk(), "/g");
  auto seen = current(view);
  BOOST_TEST_REQUIRE(names(seen.nodes) == "a b");
  BOOST_TEST(seen.nodes[1]->error == errc::no_auth);
  BOOST_TEST(seen.nodes[1]->data == "");
  create("/g/c");
  BOOST_TEST(names(change(view, seen).added) == "c");
  for (const auto* each : {"/g/a", "/g/b", "/g/c", "/g"}) remove(each);
}

BOOST_AUTO_TEST_CASE(a_parent_that_must_not_be_read_is_told_and_does_not_run_hot) {
  auto made =
      run(zk().async_create("/g", "", create_mode::persistent,
                            acl{{perm_write | perm_create | perm_delete | perm_admin, "world", "anyone"}}, tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(made));
  children_view view(zk(), "/g");
  BOOST_TEST(std::get<0>(run(view.async_current(tuple))) == errc::no_auth);
  const auto before = zk().counters().requests;
  run_until([] { return false; }, 500ms);
  BOOST_TEST(zk().counters().requests - before < 12u);
  auto opened = run(zk().async_set_acl("/g", open_acl(), any_version, tuple));
  BOOST_TEST(!std::get<0>(opened));
  BOOST_TEST(run_until([&] { return view.snapshot().exists; }));
  remove("/g");
}

BOOST_AUTO_TEST_CASE(it_ends_with_its_owner_and_with_the_session) {
  create("/g");
  recorder<children_change> waiting(executor());
  {
    children_view view(zk(), "/g");
    auto seen = current(view);
    view.async_change(seen, waiting.token());
    settle(zk());
    BOOST_TEST(!waiting.done());
  }
  BOOST_TEST_REQUIRE(run_until([&] { return waiting.done(); }));
  BOOST_TEST(waiting.error() == errc::closed);
  session third = connect();
  children_view view(third, "/g");
  auto seen = current(view);
  recorder<children_change> cancelled(executor());
  view.async_change(seen, cancelled.token());
  settle(third);
  cancelled.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return cancelled.done(); }));
  BOOST_TEST(cancelled.error() == asio::error::operation_aborted);
  run(third.async_close(tuple));
  BOOST_TEST(std::get<0>(run(view.async_change(seen, tuple))) == errc::closed);
  BOOST_CHECK_THROW(children_view(zk(), "g"), std::invalid_argument);
  remove("/g");
}

BOOST_AUTO_TEST_SUITE_END()
