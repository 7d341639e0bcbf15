// The watch registry: which waiters hear of which change, and when the server's watch is removed.
#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "session/watch_registry.hpp"
#include "support/fake_world.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;
using zkrecipes::backend::change;
using namespace zkrecipes::test;

namespace {

struct registry_case {
  std::vector<std::string> forgotten;
  std::shared_ptr<watch_registry> registry =
      std::make_shared<watch_registry>([this](watch_kind kind, const std::string& path) {
        forgotten.push_back((kind == watch_kind::data ? "data " : "children ") + path);
      });
  zkrecipes::test::fake_bench bench;
  condition told{bench.make_scheduler()};

  std::unique_ptr<watch> wait_for(watch_kind kind, const std::string& path) {
    return std::make_unique<watch>(registry, kind, path, told);
  }
  /// Sends a request that sets a watch, and answers it at once.
  void set(watch_kind kind, const std::string& path, node_mark seen = {true, 1, 1}) {
    registry->asked(kind, path);
    registry->answered(kind, path, seen);
  }
  /// A probe is answered. Whether somebody knew something else.
  bool probe(const std::string& path, node_mark there) {
    const bool is_news = registry->is_untold(path, there);
    registry->probed(path, there);
    return is_news;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(watches, registry_case)

BOOST_AUTO_TEST_CASE(data_and_existence_are_one_kind_and_children_another) {
  auto data = wait_for(watch_kind::data, "/a");
  auto children = wait_for(watch_kind::children, "/a");
  registry->fired(change::children, "/a");
  BOOST_TEST(children->fired());
  BOOST_TEST(!data->fired());
  registry->fired(change::created, "/a");
  BOOST_TEST(data->fired());
  BOOST_TEST(!data->deleted());
}

BOOST_AUTO_TEST_CASE(a_deletion_tells_both_kinds) {
  auto data = wait_for(watch_kind::data, "/a");
  auto children = wait_for(watch_kind::children, "/a");
  registry->fired(change::deleted, "/a");
  BOOST_TEST(data->fired());
  BOOST_TEST(data->deleted());
  BOOST_TEST(children->fired());
  BOOST_TEST(children->deleted());
}

BOOST_AUTO_TEST_CASE(only_the_node_named_is_told_and_all_who_wait_for_it) {
  auto one = wait_for(watch_kind::data, "/a");
  auto two = wait_for(watch_kind::data, "/a");
  auto other = wait_for(watch_kind::data, "/a/b");
  registry->fired(change::data, "/a");
  BOOST_TEST(one->fired());
  BOOST_TEST(two->fired());
  BOOST_TEST(!other->fired());
  BOOST_TEST(registry->size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_watch_is_told_once_and_nobody_is_told_of_what_came_before) {
  auto early = wait_for(watch_kind::data, "/a");
  registry->fired(change::data, "/a");
  auto late = wait_for(watch_kind::data, "/a");
  BOOST_TEST(early->fired());
  BOOST_TEST(!late->fired());
}

BOOST_AUTO_TEST_CASE(the_last_one_to_leave_takes_the_servers_watch_away) {
  auto one = wait_for(watch_kind::data, "/a");
  auto two = wait_for(watch_kind::data, "/a");
  auto children = wait_for(watch_kind::children, "/a");
  set(watch_kind::data, "/a");
  set(watch_kind::children, "/a");
  one.reset();
  BOOST_TEST(forgotten.empty());
  two.reset();
  BOOST_TEST(forgotten == std::vector<std::string>{"data /a"}, boost::test_tools::per_element());
  children.reset();
  BOOST_TEST(forgotten.back() == "children /a");
  BOOST_TEST(registry->size() == 0u);
}

// As the members of a crowd do whose waits are cancelled. If each looked for itself among the others, this would take
// minutes.
BOOST_AUTO_TEST_CASE(so_does_the_last_of_many_whatever_their_order) {
  std::vector<std::unique_ptr<watch>> all;
  for (int i = 0; i < 100'000; ++i) {
    all.push_back(wait_for(watch_kind::data, "/a"));
    all.push_back(wait_for(watch_kind::children, "/b"));
  }
  set(watch_kind::data, "/a");
  registry->asked(watch_kind::children, "/b");
  registry->answered(watch_kind::children, "/b", std::nullopt);
  std::mt19937 random(1);
  std::shuffle(all.begin(), all.end(), random);
  auto last = wait_for(watch_kind::data, "/a");
  all.clear();
  BOOST_TEST(forgotten.empty());
  BOOST_TEST(registry->size() == 1u);
  last.reset();
  BOOST_TEST(forgotten == std::vector<std::string>{"data /a"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_fired_watch_needs_no_taking_away_nor_one_that_was_let_go) {
  auto fired = wait_for(watch_kind::data, "/a");
  set(watch_kind::data, "/a");
  registry->fired(change::data, "/a");
  fired.reset();
  auto released = wait_for(watch_kind::data, "/a");
  set(watch_kind::data, "/a");
  released->let_go();
  released.reset();
  BOOST_TEST(forgotten.empty());
}

BOOST_AUTO_TEST_CASE(one_that_was_let_go_leaves_the_servers_watch_to_who_waits_on) {
  auto released = wait_for(watch_kind::data, "/a");
  set(watch_kind::data, "/a");
  auto other = wait_for(watch_kind::data, "/a");
  released->let_go();
  released.reset();
  other.reset();
  BOOST_TEST(forgotten == std::vector<std::string>{"data /a"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(where_the_server_set_no_watch_there_is_none_to_take_away) {
  auto never_asked = wait_for(watch_kind::data, "/a");
  never_asked.reset();
  auto refused = wait_for(watch_kind::data, "/a");
  registry->asked(watch_kind::data, "/a");
  registry->answered(watch_kind::data, "/a", std::nullopt);
  refused.reset();
  registry->asked(watch_kind::data, "/a");
  registry->answered(watch_kind::data, "/a", std::nullopt);
  BOOST_TEST(forgotten.empty());
}

BOOST_AUTO_TEST_CASE(one_that_nobody_waits_for_any_more_is_taken_away_behind_the_answer) {
  auto gone = wait_for(watch_kind::data, "/a");
  registry->asked(watch_kind::data, "/a");
  gone.reset();
  BOOST_TEST(forgotten.empty());
  registry->answered(watch_kind::data, "/a", node_mark{true, 1, 1});
  BOOST_TEST(forgotten == std::vector<std::string>{"data /a"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_refused_request_leaves_what_an_earlier_one_has_set_to_take_away) {
  auto gone = wait_for(watch_kind::data, "/a");
  set(watch_kind::data, "/a");
  registry->asked(watch_kind::data, "/a");
  gone.reset();
  BOOST_TEST(forgotten.empty());
  registry->answered(watch_kind::data, "/a", std::nullopt);
  BOOST_TEST(forgotten == std::vector<std::string>{"data /a"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_event_ends_what_was_set_and_not_what_an_answer_will_tell_of) {
  auto gone = wait_for(watch_kind::children, "/a");
  set(watch_kind::children, "/a");
  registry->asked(watch_kind::children, "/a");
  gone.reset();
  registry->fired(change::children, "/a");
  registry->answered(watch_kind::children, "/a", std::nullopt);
  BOOST_TEST(forgotten.empty());
  registry->asked(watch_kind::children, "/a");
  registry->fired(change::children, "/a");
  registry->answered(watch_kind::children, "/a", node_mark{true, 1, 1});
  BOOST_TEST(forgotten == std::vector<std::string>{"children /a"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_was_asked_over_a_lost_connection_stands_for_nothing) {
  auto gone = wait_for(watch_kind::data, "/a");
  set(watch_kind::data, "/a");
  registry->asked(watch_kind::data, "/a");
  gone.reset();
  registry->connection_lost();
  auto later = wait_for(watch_kind::data, "/a");
  set(watch_kind::data, "/a");
  later.reset();
  BOOST_TEST(forgotten == std::vector<std::string>{"data /a"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_lost_connection_tells_everybody_to_look_again) {
  auto data = wait_for(watch_kind::data, "/a");
  auto children = wait_for(watch_kind::children, "/b");
  registry->connection_lost();
  BOOST_TEST(data->fired());
  BOOST_TEST(!data->deleted());
  BOOST_TEST(children->fired());
  BOOST_TEST(registry->size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_probe_tells_those_who_know_something_else) {
  auto data = wait_for(watch_kind::data, "/a");
  set(watch_kind::data, "/a", {true, 5, 5});
  auto children = wait_for(watch_kind::children, "/a");
  set(watch_kind::children, "/a", {true, 5, 5});
  BOOST_TEST(!probe("/a", {true, 5, 5}));
  BOOST_TEST(probe("/a", {true, 6, 5}));
  BOOST_TEST(data->fired());
  BOOST_TEST(!data->deleted());
  BOOST_TEST(!children->fired());
  BOOST_TEST(probe("/a", {true, 6, 7}));
  BOOST_TEST(children->fired());
  BOOST_TEST(!probe("/a", {true, 9, 9}), "nobody waits");
}

BOOST_AUTO_TEST_CASE(a_probe_tells_of_nodes_that_come_and_go) {
  auto missing = wait_for(watch_kind::data, "/a");
  set(watch_kind::data, "/a", {});
  auto present = wait_for(watch_kind::data, "/b");
  set(watch_kind::data, "/b", {true, 5, 5});
  BOOST_TEST(!probe("/a", {}));
  BOOST_TEST(probe("/a", {true, 6, 6}));
  BOOST_TEST(probe("/b", {}));
  BOOST_TEST(!missing->deleted());
  BOOST_TEST(present->deleted());
}

// The first one has missed an event. The other one has looked since, and the server's watch is its own.
BOOST_AUTO_TEST_CASE(who_has_looked_since_is_not_told_and_keeps_the_servers_watch) {
  auto early = wait_for(watch_kind::data, "/a");
  set(watch_kind::data, "/a", {true, 5, 5});
  auto late = wait_for(watch_kind::data, "/a");
  set(watch_kind::data, "/a", {true, 6, 5});
  auto not_answered = wait_for(watch_kind::data, "/a");
  BOOST_TEST(probe("/a", {true, 6, 5}));
  BOOST_TEST(early->fired());
  BOOST_TEST(!late->fired());
  BOOST_TEST(!not_answered->fired());
  not_answered.reset();
  BOOST_TEST(forgotten.empty());
  late.reset();
  BOOST_TEST(forgotten == std::vector<std::string>{"data /a"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_refused_request_leaves_no_waiter_without_a_watch) {
  auto refused = wait_for(watch_kind::data, "/a");
  registry->asked(watch_kind::data, "/a");
  registry->answered(watch_kind::data, "/a", std::nullopt);
  BOOST_TEST(!refused->fired());
  BOOST_TEST(registry->next_probes().empty());
  BOOST_TEST(refused->fired());
  BOOST_TEST(!refused->deleted());
  auto again = wait_for(watch_kind::data, "/a");
  registry->asked(watch_kind::data, "/a");
  registry->answered(watch_kind::data, "/a", std::nullopt);
  set(watch_kind::data, "/a");
  BOOST_TEST(registry->next_probes() == std::vector<std::string>{"/a"}, boost::test_tools::per_element());
  BOOST_TEST(!again->fired());
}

BOOST_AUTO_TEST_CASE(a_round_of_probes_takes_eight_heartbeats_and_asks_each_node_once) {
  std::vector<std::unique_ptr<watch>> all;
  std::multiset<std::string> paths;
  for (int i = 0; i < 32; ++i) {
    const auto path = "/" + std::to_string(i);
    for (const auto kind : {watch_kind::data, watch_kind::children}) {
      all.push_back(wait_for(kind, path));
      set(kind, path);
    }
    paths.insert(path);
  }
  std::multiset<std::string> probed;
  for (int i = 0; i < 4; ++i) {
    for (const auto& each : registry->next_probes()) probed.insert(each);
  }
  BOOST_TEST(probed == paths, "64 waiters, eight probes at a time, for 32 nodes");
  for (int i = 0; i < 1'000; ++i) {
    all.push_back(wait_for(watch_kind::data, "/x" + std::to_string(i)));
    set(watch_kind::data, "/x" + std::to_string(i));
  }
  BOOST_TEST(registry->next_probes().size() == 64u);
}

BOOST_AUTO_TEST_CASE(nothing_is_asked_of_the_server_after_the_end) {
  auto data = wait_for(watch_kind::data, "/a");
  set(watch_kind::data, "/a");
  registry->stop();
  data.reset();
  BOOST_TEST(forgotten.empty());
}

BOOST_AUTO_TEST_SUITE_END()

// Waiting for a change of a node: the state that is read counts, not the event; and no watch is left behind.
namespace {

struct watching : connected_session {
  recorder<node_data> wait_for_change(std::int64_t seen) { return zk.async_data_change("/a", seen, begun()); }
  /// The node exists with this mzxid.
  void answer_stat(std::int64_t mzxid) { answer_with({.data = "data", .stat = {.mzxid = mzxid}}); }
};

}  // namespace

#define CHECK_FORGOTTEN(...) BOOST_TEST(forgotten() == (strings{__VA_ARGS__}), boost::test_tools::per_element())

BOOST_FIXTURE_TEST_SUITE(session_watches, watching)

BOOST_AUTO_TEST_CASE(what_is_different_already_is_told_at_once) {
  auto change = wait_for_change(5);
  answer_stat(6);
  answer_stat(6);
  BOOST_TEST_REQUIRE(change.done());
  BOOST_TEST(change.result<0>().data == "data");
  CHECK_FORGOTTEN("forget_data /a");
}

BOOST_AUTO_TEST_CASE(an_event_without_a_difference_is_no_change) {
  auto change = wait_for_change(5);
  answer_stat(5);
  CHECK_PENDING();
  fire(backend::change::data, "/a");
  CHECK_PENDING("exists /a");
  answer_stat(5);
  BOOST_TEST(!change.done());
  fire(backend::change::data, "/a");
  answer_stat(7);
  answer_stat(7);
  BOOST_TEST(change.done());
}

BOOST_AUTO_TEST_CASE(a_change_while_the_connection_was_away_is_seen) {
  auto change = wait_for_change(5);
  answer_stat(5);
  reconnect();
  CHECK_PENDING("exists /a");
  answer_stat(6);
  answer_stat(6);
  BOOST_TEST(change.done());
}

// A server tells nothing of a node that the session may not read at that moment, and its watch is used up.
BOOST_AUTO_TEST_CASE(a_change_that_no_event_has_told_is_found_out_by_a_heartbeat) {
  auto change = wait_for_change(5);
  answer_stat(5);
  advance(3s);
  CHECK_PENDING("exists /");
  BOOST_TEST(last().pending.front().first.path == "/a");
  BOOST_TEST(!last().pending.front().first.watch);
  answer_stat(5);
  CHECK_PENDING();
  advance(3s);
  answer_stat(7);
  CHECK_PENDING("get /a");
  answer_stat(7);
  CHECK_PENDING("exists /a");
  answer_stat(7);
  answer_stat(7);
  BOOST_TEST(change.done());
  forgotten();
  advance(1min);
  CHECK_PENDING();
}

// An operator who closes a tree for a while, and changes it meanwhile, ends no wait.
BOOST_AUTO_TEST_CASE(a_change_of_a_node_that_may_not_be_read_is_told_when_it_may) {
  auto change = wait_for_change(5);
  answer_stat(5);
  for (int i = 0; i < 3; ++i) {
    advance(3s);
    answer_stat(7);
    CHECK_PENDING("get /a");
    fail(errc::no_auth);
    CHECK_PENDING();
  }
  BOOST_TEST(!change.done());
  advance(3s);
  for (int i = 0; i < 4; ++i) answer_stat(7);
  BOOST_TEST_REQUIRE(succeeded(change));
}

BOOST_AUTO_TEST_CASE(a_node_whose_coming_no_event_has_told_is_found_out) {
  auto change = wait_for_change(0);
  fail(errc::no_node);
  advance(3s);
  fail(errc::no_node);
  CHECK_PENDING();
  advance(3s);
  fail(errc::no_auth);  // servers may come to refuse this one day: the next heartbeat tries again
  CHECK_PENDING();
  advance(3s);
  for (int i = 0; i < 4; ++i) answer_stat(9);
  BOOST_TEST(change.done());
}

BOOST_AUTO_TEST_CASE(a_change_that_no_event_has_told_is_told_to_the_log) {
  auto options = usual();
  std::vector<std::string> lines;
  options.log = [&](const log_event& event) {
    if (event.severity >= log_severity::info) lines.push_back(to_string(event));
  };
  fake_session it(options);
  it.connect();
  auto change = it.zk.async_data_change("/a", 0, it.begun());
  it.fail(errc::no_node);
  it.advance(3s);
  lines.clear();
  it.fail(errc::no_node);
  BOOST_TEST(lines.empty());
  it.advance(3s);
  backend::reply made;
  made.stat.mzxid = 9;
  it.answer(made);
  BOOST_TEST(lines.empty());
  it.answer(made);
  BOOST_TEST_REQUIRE(lines.size() == 1u);
  BOOST_TEST(
      lines[0] ==
      "change_untold /a (the node had changed without an event, as servers send none while the session may not read "
      "the node; a probe has found the change)");
}

BOOST_AUTO_TEST_CASE(a_node_that_was_not_there_is_waited_for) {
  auto change = wait_for_change(0);
  fail(errc::no_node);
  BOOST_TEST(!change.done());
  fire(backend::change::created, "/a");
  answer_stat(9);
  answer_stat(9);
  BOOST_TEST_REQUIRE(change.done());
  BOOST_TEST(change.result<0>().stat.mzxid == 9);
}

BOOST_AUTO_TEST_CASE(a_node_that_comes_and_goes_between_two_looks_is_waited_for_on) {
  auto change = wait_for_change(0);
  answer_stat(9);
  fail(errc::no_node);
  BOOST_TEST(!change.done());
  CHECK_PENDING("exists /a");
}

BOOST_AUTO_TEST_CASE(a_node_that_has_gone_is_a_change) {
  auto change = wait_for_change(5);
  answer_stat(5);
  fire(backend::change::deleted, "/a");
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(ended_with(change, errc::no_node));
}

BOOST_AUTO_TEST_CASE(children_are_compared_by_their_parents_pzxid) {
  auto change = zk.async_children_change("/a", 5, begun());
  backend::reply listed;
  listed.stat.pzxid = 5;
  answer(listed);
  BOOST_TEST(!change.done());
  fire(backend::change::children, "/a");
  listed.stat.pzxid = 6;
  listed.children = {"x"};
  answer(listed);
  BOOST_TEST_REQUIRE(change.done());
  BOOST_TEST(change.result<0>().names == strings{"x"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(giving_up_takes_the_watch_away) {
  auto change = wait_for_change(5);
  answer_stat(5);
  CHECK_FORGOTTEN();
  change.cancel();
  settle();
  BOOST_TEST_REQUIRE(ended_with(change, asio::error::operation_aborted));
  CHECK_FORGOTTEN("forget_data /a");
}

// The server sets the watch when it executes the request, even if nobody waits for the answer any more. Before that
// there is no watch to remove: the C client would report so, and keep the watch that comes then.
BOOST_AUTO_TEST_CASE(giving_up_before_the_answer_takes_the_watch_away_behind_it) {
  auto change = wait_for_change(5);
  CHECK_PENDING("exists /a");
  change.cancel();
  settle();
  BOOST_TEST_REQUIRE(change.done());
  CHECK_FORGOTTEN();
  answer_stat(5);
  CHECK_FORGOTTEN("forget_data /a");
}

BOOST_AUTO_TEST_CASE(who_comes_while_somebody_gives_up_keeps_the_watch) {
  auto early = wait_for_change(5);
  early.cancel();
  settle();
  auto late = wait_for_change(5);
  answer_stat(5);
  answer_stat(5);
  CHECK_FORGOTTEN();
  fire(backend::change::data, "/a");
  answer_stat(6);
  answer_stat(6);
  BOOST_TEST(late.done());
}

BOOST_AUTO_TEST_CASE(a_lost_connection_needs_no_taking_away) {
  auto change = wait_for_change(5);
  change.cancel();
  settle();
  reconnect();
  CHECK_FORGOTTEN();
}

BOOST_AUTO_TEST_CASE(of_two_who_wait_for_one_node_one_can_give_up) {
  auto one = wait_for_change(5);
  auto two = wait_for_change(5);
  answer_stat(5);
  answer_stat(5);
  one.cancel();
  settle();
  CHECK_FORGOTTEN();
  fire(backend::change::data, "/a");
  answer_stat(6);
  answer_stat(6);
  BOOST_TEST(two.done());
}

BOOST_AUTO_TEST_CASE(watches_are_for_paths_below_the_root) {
  auto options = usual();
  options.root = "/r";
  fake_session it(options);
  it.connect();
  auto change = it.zk.async_data_change("/a", 0, it.begun());
  it.fail(errc::no_node);
  it.fire(backend::change::created, "/r/a");
  BOOST_TEST(it.pending() == strings{"exists /r/a"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
