// Two-phase commit: begun, voted on, decided, looked at, cleaned up.
#include <algorithm>
#include <string>
#include <vector>

#include <zkrecipes/two_phase_commit.hpp>

#include "ensemble/ensemble_case.hpp"
#include "ensemble/request_log.hpp"

// Transactions under `/t`.

BOOST_TEST_DONT_PRINT_LOG_VALUE(zkrecipes::decision)
BOOST_TEST_DONT_PRINT_LOG_VALUE(zkrecipes::ballot)

namespace zkrecipes::test {

using names = std::vector<std::string>;

class commit_case : public ensemble_case {
 public:
  two_phase_commit over(session& which) { return two_phase_commit(which, "/t"); }
  two_phase_commit here() { return over(zk()); }

  void begin(const std::string& id, names participants, const std::string& data = {}) {
    auto [error] = run(here().async_begin(id, std::move(participants), data, tuple));
    BOOST_TEST_REQUIRE(!error, error.message());
  }
  decision vote(session& which, const std::string& id, const std::string& who, ballot what,
                const std::string& reason = {}) {
    auto [error, outcome] = run(over(which).async_vote(id, who, what, reason, tuple));
    BOOST_TEST_REQUIRE(!error, error.message());
    return outcome.decision;
  }
  decision vote(const std::string& id, const std::string& who, ballot what, const std::string& reason = {}) {
    return vote(zk(), id, who, what, reason);
  }
  commit_outcome decide(session& which, const std::string& id, lease_clock::duration budget = 0s) {
    auto [error, outcome] = run(over(which).async_decide(id, budget, tuple));
    BOOST_TEST_REQUIRE(!error, error.message());
    return outcome;
  }
  commit_outcome outcome_of(const std::string& id) {
    auto [error, outcome] = run(here().async_outcome(id, tuple));
    BOOST_TEST_REQUIRE(!error, error.message());
    return outcome;
  }
  std::size_t clean_up(std::chrono::milliseconds age = 0ms) {
    auto [error, removed] = run(here().async_clean_up(age, tuple));
    BOOST_TEST_REQUIRE(!error, error.message());
    return removed;
  }
  names undecided() {
    auto [error, ids] = run(here().async_undecided(tuple));
    BOOST_TEST_REQUIRE(!error, error.message());
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  /// Checks that nothing is left after a clean-up, and removes the path.
  void finish() {
    clean_up();
    clean_up();
    BOOST_TEST(undecided().empty());
    remove_path();
  }
  void remove_path() {
    for (const std::string each : {"/t/_coordinator", "/t/_undecided", "/t/_decided"}) {
      if (exists(each)) remove(each);
    }
    remove("/t");
  }
};

}  // namespace zkrecipes::test

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(two_phase_commit_votes, commit_case)

BOOST_AUTO_TEST_CASE(all_say_yes_and_it_is_committed) {
  begin("order-1", {"stock", "payment"}, "two books");
  recorder<commit_outcome> learnt(executor()), decided(executor());
  here().async_outcome("order-1", learnt.token());
  here().async_decide("order-1", 1h, decided.token());
  BOOST_TEST(vote("order-1", "stock", ballot::yes) == decision::pending);
  settle(zk());
  BOOST_TEST(!learnt.done());
  BOOST_TEST(undecided() == names{"order-1"}, boost::test_tools::per_element());
  BOOST_TEST(vote("order-1", "payment", ballot::yes, "card accepted") == decision::pending);
  BOOST_TEST_REQUIRE(run_until([&] { return learnt.done() && decided.done(); }));
  BOOST_TEST(learnt.result<0>().decision == decision::committed);
  BOOST_TEST(decided.result<0>().decision == decision::committed);
  auto [error, state] = run(here().async_state("order-1", tuple));
  BOOST_TEST(!error);
  BOOST_TEST(state.data == "two books");
  BOOST_TEST(state.participants == (names{"stock", "payment"}), boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(state.votes.size() == 2u);
  BOOST_TEST(state.votes[1].participant == "payment");
  BOOST_TEST(state.votes[1].ballot == ballot::yes);
  BOOST_TEST(state.votes[1].reason == "card accepted");
  BOOST_TEST(state.outcome.decision == decision::committed);
  const auto begun = std::chrono::duration_cast<std::chrono::milliseconds>(state.begun.time_since_epoch());
  BOOST_TEST(begun.count() == get("/t/order-1").stat.ctime);
  finish();
}

BOOST_AUTO_TEST_CASE(one_says_no_and_all_learn_why) {
  begin("order-1", {"stock", "payment"});
  BOOST_TEST(vote("order-1", "stock", ballot::yes) == decision::pending);
  BOOST_TEST(vote("order-1", "payment", ballot::no, "card refused") == decision::aborted);
  const auto outcome = outcome_of("order-1");
  BOOST_TEST(outcome.decision == decision::aborted);
  BOOST_TEST(outcome.reason == "payment: card refused");
  BOOST_TEST(decide(zk(), "order-1").reason == outcome.reason, "the coordinator finds it decided");
  finish();
}

BOOST_AUTO_TEST_CASE(who_does_not_vote_in_time_aborts) {
  begin("order-1", {"a", "b", "c"});
  vote("order-1", "b", ballot::yes);
  const auto outcome = decide(zk(), "order-1", 100ms);
  BOOST_TEST(outcome.decision == decision::aborted);
  BOOST_TEST(outcome.reason == "no vote in time: a c");
  BOOST_TEST(vote("order-1", "a", ballot::yes) == decision::aborted, "a late vote gets the decision");
  BOOST_TEST(!exists("/t/order-1/vote-a"), "and does not count");
  finish();
}

BOOST_AUTO_TEST_CASE(a_vote_is_given_once) {
  begin("order-1", {"a", "b"});
  vote("order-1", "a", ballot::yes, "first");
  BOOST_TEST(vote("order-1", "a", ballot::yes, "again, after a restart") == decision::pending);
  BOOST_TEST(std::get<0>(run(here().async_vote("order-1", "a", ballot::no, "", tuple))) == errc::node_exists);
  BOOST_TEST(std::get<0>(run(here().async_vote("order-1", "c", ballot::yes, "", tuple))) == errc::bad_arguments);
  BOOST_TEST(std::get<0>(run(here().async_vote("order-2", "a", ballot::yes, "", tuple))) == errc::no_node);
  auto [error, state] = run(here().async_state("order-1", tuple));
  BOOST_TEST_REQUIRE(state.votes.size() == 1u);
  BOOST_TEST(state.votes[0].reason == "first");
  vote("order-1", "b", ballot::no);
  BOOST_TEST(vote("order-1", "a", ballot::no) == decision::aborted, "whatever it says now");
  finish();
}

BOOST_AUTO_TEST_CASE(an_id_is_used_once) {
  begin("order-1", {"a"});
  BOOST_TEST(std::get<0>(run(here().async_begin("order-1", {"a"}, "", tuple))) == errc::node_exists);
  finish();
  BOOST_TEST(std::get<0>(run(here().async_outcome("order-1", tuple))) == errc::no_node);
  BOOST_TEST(std::get<0>(run(here().async_decide("order-1", 0s, tuple))) == errc::no_node);
  BOOST_TEST(std::get<0>(run(here().async_state("order-1", tuple))) == errc::no_node);
  BOOST_TEST(undecided().empty());
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused) {
  BOOST_CHECK_THROW(two_phase_commit(zk(), "t"), std::invalid_argument);
  BOOST_CHECK_THROW(two_phase_commit(zk(), "/"), std::invalid_argument);
  auto refuses = [&](const std::string& id, names participants, const std::string& data = {}) {
    auto [error] = run(here().async_begin(id, std::move(participants), data, tuple));
    return error == errc::bad_arguments;
  };
  for (const std::string id : {"", "a/b", "_coordinator", ".", "..", "a\nb"}) BOOST_TEST(refuses(id, {"a"}), id);
  BOOST_TEST(refuses("x", {}), "nobody");
  BOOST_TEST(refuses("x", {"a", "a"}), "twice the same");
  BOOST_TEST(refuses("x", {"a/b"}));
  BOOST_TEST(refuses("x", {"a"}, std::string(1'000'000, 'x')));
  BOOST_TEST(refuses("x", names(1001, "a")));
  BOOST_TEST(std::get<0>(run(here().async_vote("x", "a/b", ballot::yes, "", tuple))) == errc::bad_arguments);
  const std::string long_reason(10'001, 'x');
  BOOST_TEST(std::get<0>(run(here().async_vote("x", "a", ballot::yes, long_reason, tuple))) == errc::bad_arguments);
  BOOST_TEST(std::get<0>(run(here().async_outcome("a/b", tuple))) == errc::bad_arguments);
  BOOST_TEST(std::get<0>(run(here().async_clean_up(-1ms, tuple))) == errc::bad_arguments);
  auto coordinate = [&](commit_coordinator_options with) { run(here().async_coordinate(with, tuple)); };
  BOOST_CHECK_THROW(coordinate({.id = ""}), std::invalid_argument);
  BOOST_CHECK_THROW(coordinate({.vote_timeout = -1ms}), std::invalid_argument);
  BOOST_CHECK_THROW(coordinate({.retention = -1ms}), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(the_largest_that_is_taken_can_be_decided) {
  names many;
  for (int i = 0; i < 1000; ++i) many.push_back("participant-" + std::to_string(i));
  std::string data(700'000, 'x');
  data[0] = '\xff';
  data[1] = '\0';
  begin("large", many, data);
  const std::string reason(10'000, '\x01');
  BOOST_TEST(vote("large", "participant-7", ballot::no, reason) == decision::aborted);
  begin("many", many, std::string(600'000, 'x'));
  for (const auto& each : many) vote("many", each, ballot::yes);
  BOOST_TEST(decide(zk(), "many").decision == decision::committed);
  auto [error, state] = run(here().async_state("large", tuple));
  BOOST_TEST((state.data == data));
  finish();
}

BOOST_AUTO_TEST_CASE(the_largest_that_a_narrow_session_begins_it_can_decide) {
  auto how = options();
  how.jute_maxbuffer = 80'000;
  auto narrow = connect(how);
  names many;
  for (int i = 0; i < 200; ++i) many.push_back("participant-" + std::to_string(i));
  auto refused = [&](std::size_t bytes) {
    const auto [error] = run(over(narrow).async_begin("x", many, std::string(bytes, 'x'), tuple));
    BOOST_TEST_REQUIRE((!error || error == errc::too_large), error.message());
    return error == errc::too_large;
  };
  std::size_t bytes = how.jute_maxbuffer;
  while (bytes > 0 && refused(bytes)) bytes -= 500;
  BOOST_TEST(bytes > 0u);
  for (const auto& each : many) vote(narrow, "x", each, ballot::yes);
  BOOST_TEST(decide(narrow, "x").decision == decision::committed);
  finish();
}

BOOST_AUTO_TEST_CASE(what_is_not_ours_is_refused_or_left_alone) {
  create("/t", R"({"zkrecipes":"term","epoch":1})");
  BOOST_TEST(std::get<0>(run(here().async_begin("x", {"a"}, "", tuple))) == errc::foreign_data);
  BOOST_TEST(std::get<0>(run(here().async_clean_up(0ms, tuple))) == errc::foreign_data);
  remove("/t");
  begin("x", {"a"});
  create("/t/note", "not JSON");
  create("/t/list", "[1]");
  BOOST_TEST(undecided() == names{"x"}, boost::test_tools::per_element());
  BOOST_TEST(std::get<0>(run(here().async_outcome("note", tuple))) == errc::foreign_data);
  BOOST_TEST(std::get<0>(run(here().async_vote("list", "a", ballot::yes, "", tuple))) == errc::foreign_data);
  decide(zk(), "x");
  create("/t/x/comment");
  BOOST_TEST(clean_up() == 0u, "with a foreign child it stays");
  remove("/t/x/comment");
  BOOST_TEST(clean_up() == 1u);
  for (const auto* each : {"/t/note", "/t/list"}) {
    BOOST_TEST(exists(each));
    remove(each);
  }
  finish();
}

BOOST_AUTO_TEST_CASE(what_is_old_is_cleaned_up_and_nothing_else) {
  begin("given-up", {"a", "b"});
  vote("given-up", "a", ballot::yes);
  begin("decided", {"a"});
  decide(zk(), "decided");
  BOOST_TEST(clean_up(1h) == 0u);
  BOOST_TEST(undecided() == names{"given-up"}, boost::test_tools::per_element());
  BOOST_TEST(clean_up(0ms) == 1u, "the decided one");
  BOOST_TEST(!exists("/t/decided"));
  const auto outcome = outcome_of("given-up");
  BOOST_TEST(outcome.decision == decision::aborted, "its parties can still learn that it was given up");
  BOOST_TEST(outcome.reason == "given up");
  BOOST_TEST(clean_up(0ms) == 1u);
  BOOST_TEST(!exists("/t/given-up"));
  remove_path();
  BOOST_TEST(clean_up(0ms) == 0u, "no path, nothing old");
}

BOOST_AUTO_TEST_CASE(a_wait_ends_with_its_budget_or_by_cancellation) {
  begin("x", {"a"});
  BOOST_TEST(std::get<0>(run(here().async_outcome_for("x", 100ms, tuple))) == errc::timed_out);
  recorder<commit_outcome> learnt(executor()), decided(executor());
  here().async_outcome("x", learnt.token());
  here().async_decide("x", 1h, decided.token());
  settle(zk());
  learnt.cancel();
  decided.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return learnt.done() && decided.done(); }));
  BOOST_TEST(learnt.error() == asio::error::operation_aborted);
  BOOST_TEST(decided.error() == asio::error::operation_aborted);
  BOOST_TEST(undecided() == names{"x"}, boost::test_tools::per_element());
  finish();
}

BOOST_AUTO_TEST_SUITE_END()

// Two-phase commit: its costs while decided transactions are kept, and transactions that an older version left.

namespace {

struct commit_costs_case : commit_case {
  /// Coordinates for as long as the object lives.
  struct coordination {
    coordination(commit_costs_case& of, trace_hook hook)
        : test(of), zk(of.connect(with(of, std::move(hook)))), held(of.executor()) {
      test.over(zk).async_coordinate({.vote_timeout = 1h}, held.token());
    }
    ~coordination() {
      held.cancel();
      test.run_until([&] { return held.done(); });
      test.run_until([&] { return test.children("/t/_coordinator").empty(); });
    }
    static session_options with(commit_costs_case& of, trace_hook hook) {
      auto options = of.options();
      options.trace = std::move(hook);
      return options;
    }

    commit_costs_case& test;
    session zk;
    recorder<> held;
  };

  bool is_indexed(const std::string& id) { return !exists("/t/_undecided/" + id); }
  void commit(const std::string& id) {
    begin(id, {"a"});
    vote(id, "a", ballot::yes);
    BOOST_TEST(outcome_of(id).decision == decision::committed);
    BOOST_TEST_REQUIRE(run_until([&] { return is_indexed(id); }));
  }
  /// The logged paths include the root path of the case, so their ends are compared.
  static long count(const request_log& log, const std::string& operation, const std::string& path) {
    return std::ranges::count_if(
        log.all(), [&](const std::string& each) { return each.starts_with(operation + ' ') && each.ends_with(path); });
  }
  static bool mentions(const std::string& request, const std::string& what) {
    return request.find(what) != request.npos;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(two_phase_commit_costs, commit_costs_case)

BOOST_AUTO_TEST_CASE(what_is_kept_costs_a_coordinator_nothing) {
  std::vector<long> requests;
  for (const int kept : {0, 40}) {
    for (int i = 0; i < kept; ++i) {
      const auto id = "kept-" + std::to_string(i);
      begin(id, {"a"});
      vote(id, "a", ballot::no);
      BOOST_TEST_REQUIRE(run_until([&] { return is_indexed(id); }));
    }
    request_log log;
    {
      coordination leading(*this, log.hook());
      commit("first-" + std::to_string(kept));
      requests.push_back(static_cast<long>(log.all().size()) - log.count("multi"));
    }
    if (kept == 0) continue;  // the first coordinator of a path lists it, to give every transaction a mark
    for (const auto& each : log.all()) {
      BOOST_TEST(!mentions(each, "kept-"), each);
      BOOST_TEST(!(each.starts_with("children ") && each.ends_with("/t")), "what is kept is not listed");
    }
  }
  BOOST_TEST(requests[1] <= requests[0] + 4, "but for changes that are seen one by one or together");
  finish();
}

BOOST_AUTO_TEST_CASE(a_vote_makes_nobody_read_the_record_again) {
  begin("x", {"a", "b", "c", "d"}, std::string(100'000, 'x'));
  request_log log;
  auto leading = std::make_unique<coordination>(*this, log.hook());
  BOOST_TEST_REQUIRE(run_until([&] { return log.count("get") > 0 && mentions(log.all().back(), "/t/x"); }));
  for (const auto* each : {"a", "b", "c"}) {
    const auto lists = count(log, "children", "/t/x");
    vote("x", each, ballot::yes);
    BOOST_TEST_REQUIRE(run_until([&] { return count(log, "children", "/t/x") > lists; }));
  }
  BOOST_TEST(count(log, "get", "/t/x") == 1);
  vote("x", "d", ballot::yes);
  BOOST_TEST(outcome_of("x").decision == decision::committed);
  BOOST_TEST_REQUIRE(run_until([&] { return is_indexed("x"); }));
  leading.reset();
  finish();
}

BOOST_AUTO_TEST_CASE(what_an_older_version_began_is_finished_and_cleaned_up) {
  const auto record = [](const std::string& decision) {
    return R"({"zkrecipes":"commit","by":"guid","participants":["a"],"data":"old","decision":")" + decision +
           R"(","reason":""})";
  };
  create("/t", R"({"zkrecipes":"two_phase_commit"})");
  create("/t/open", record("pending"));
  create("/t/done", record("pending"));
  BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_set("/t/done", record("aborted"), any_version, tuple))));
  create("/t/note", "not ours");
  BOOST_TEST(undecided() == (zkrecipes::test::names{"open"}), boost::test_tools::per_element());
  {
    coordination leading(*this, {});
    vote("open", "a", ballot::yes);
    BOOST_TEST(outcome_of("open").decision == decision::committed);
    BOOST_TEST_REQUIRE(run_until([&] { return exists("/t/_undecided") && is_indexed("open"); }));
  }
  BOOST_TEST(outcome_of("done").decision == decision::aborted);
  BOOST_TEST(clean_up() == 2u);
  BOOST_TEST(exists("/t/note"));
  remove("/t/note");
  finish();
}

BOOST_AUTO_TEST_CASE(a_transaction_that_somebody_has_removed_is_forgotten) {
  begin("x", {"a"});
  begin("y", {"a"});
  remove("/t/x");
  {
    coordination leading(*this, {});
    BOOST_TEST(run_until([&] { return is_indexed("x"); }));
    vote("y", "a", ballot::yes);
    BOOST_TEST(outcome_of("y").decision == decision::committed);
    BOOST_TEST_REQUIRE(run_until([&] { return is_indexed("y"); }));
  }
  remove("/t/y/vote-a");
  remove("/t/y");
  BOOST_TEST(clean_up() == 0u);
  BOOST_TEST(children("/t/_decided").empty(), "no mark is left");
  finish();
}

BOOST_AUTO_TEST_SUITE_END()

// Two-phase commit: replies get lost, parties die and come back, coordinators take over.

BOOST_FIXTURE_TEST_SUITE(two_phase_commit_faults, commit_case)

BOOST_AUTO_TEST_CASE(a_begin_whose_reply_is_lost_is_found) {
  auto far = connect_far();
  begin("before", {"a"});
  own().drop_reply(testcluster::op::multi);
  auto [error] = run(over(far).async_begin("x", {"a"}, "", tuple));
  BOOST_TEST(!error, error.message());
  BOOST_TEST(own().drops() == 1u);
  own().drop_request(testcluster::op::multi);
  auto [unsure] = run(over(far).async_begin("y", {"a"}, "", tuple));
  BOOST_TEST(unsure == errc::outcome_unknown);
  BOOST_TEST(!exists("/t/y"), "it never arrived");
  finish();
}

BOOST_AUTO_TEST_CASE(a_vote_or_a_decision_whose_reply_is_lost_counts_once) {
  auto far = connect_far();
  begin("x", {"a", "b"});
  for (bool executed : {true, false}) {
    executed ? own().drop_reply(testcluster::op::multi) : own().drop_request(testcluster::op::multi);
    BOOST_TEST(vote(far, "x", executed ? "a" : "b", ballot::yes) == decision::pending);
  }
  own().drop_reply(testcluster::op::multi);
  BOOST_TEST(decide(far, "x").decision == decision::committed);
  BOOST_TEST(get("/t/x").stat.version == 1, "written once");
  begin("y", {"a"});
  own().drop_reply(testcluster::op::multi);
  BOOST_TEST(vote(far, "y", "a", ballot::no) == decision::aborted);
  BOOST_TEST(get("/t/y").stat.version == 1);
  BOOST_TEST(own().drops() == 4u);
  finish();
}

BOOST_AUTO_TEST_CASE(an_outcome_is_learnt_after_a_restart) {
  begin("x", {"a"});
  {
    auto before = connect();
    vote(before, "x", "a", ballot::yes);
  }
  decide(zk(), "x");
  auto after = connect();
  auto [error, outcome] = run(over(after).async_outcome("x", tuple));
  BOOST_TEST(!error);
  BOOST_TEST(outcome.decision == decision::committed);
  finish();
}

BOOST_AUTO_TEST_CASE(waits_go_on_in_the_next_session) {
  auto mortal = connect_far();
  begin("x", {"a", "b"});
  recorder<commit_outcome> learnt(executor()), decided(executor());
  over(mortal).async_outcome("x", learnt.token());
  over(mortal).async_decide("x", 1h, decided.token());
  settle(mortal);
  cluster().expire(mortal.status().session_id);
  BOOST_TEST_REQUIRE(run_until([&] { return mortal.status().incarnation == 2; }));
  vote("x", "a", ballot::yes);
  settle(mortal);
  BOOST_TEST(!learnt.done());
  vote("x", "b", ballot::yes);
  BOOST_TEST_REQUIRE(run_until([&] { return learnt.done() && decided.done(); }));
  BOOST_TEST(learnt.result<0>().decision == decision::committed);
  BOOST_TEST(decided.result<0>().decision == decision::committed);
  finish();
}

BOOST_AUTO_TEST_CASE(two_coordinators_write_one_decision) {
  begin("x", {"a"});
  auto far = connect_far();
  // The slow coordinator has seen that the vote is missing, and sleeps until its time is up.
  recorder<commit_outcome> slow(executor());
  over(far).async_decide("x", 300ms, slow.token());
  settle(far);
  settle(far);
  own().freeze(true);
  const auto its_end = lease_clock::now() + 300ms;
  const auto asked = far.counters().requests;
  vote("x", "a", ballot::yes);
  BOOST_TEST(decide(zk(), "x").decision == decision::committed);
  // It has not heard of that decision when it writes that the time is up.
  BOOST_TEST_REQUIRE(run_until([&] { return lease_clock::now() >= its_end && far.counters().requests > asked; }));
  BOOST_TEST(!slow.done());
  own().freeze(false);
  BOOST_TEST_REQUIRE(run_until([&] { return slow.done(); }));
  BOOST_TEST(slow.result<0>().decision == decision::committed, "it gets what was decided");
  BOOST_TEST(get("/t/x").stat.version == 1);
  finish();
}

BOOST_AUTO_TEST_CASE(an_elected_coordinator_finishes_what_another_began) {
  auto first_zk = connect_far();
  auto second_zk = connect();
  recorder<> first(executor()), second(executor());
  over(first_zk).async_coordinate({.id = "first", .vote_timeout = 1h}, first.token());
  BOOST_TEST_REQUIRE(run_until([&] { return exists("/t/_coordinator") && children("/t/_coordinator").size() == 1; }));
  over(second_zk).async_coordinate({.id = "second", .vote_timeout = 1h}, second.token());
  BOOST_TEST_REQUIRE(run_until([&] { return children("/t/_coordinator").size() == 2; }));
  begin("one", {"a"});
  vote("one", "a", ballot::yes);
  BOOST_TEST(outcome_of("one").decision == decision::committed);
  begin("two", {"a", "b"});
  vote("two", "a", ballot::yes);
  settle(first_zk);
  own().refuse(true);
  own().cut();
  cluster().expire(first_zk.status().session_id);
  vote("two", "b", ballot::yes);
  BOOST_TEST(outcome_of("two").decision == decision::committed);
  begin("three", {"a"});
  vote("three", "a", ballot::yes);
  BOOST_TEST(outcome_of("three").decision == decision::committed, "the second coordinates alone");
  reconnect();
  BOOST_TEST_REQUIRE(run_until([&] { return children("/t/_coordinator").size() == 2; }));
  BOOST_TEST(!first.done(), "it stands for election again");
  first.cancel();
  second.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return first.done() && second.done(); }));
  BOOST_TEST(first.error() == asio::error::operation_aborted);
  BOOST_TEST(run_until([&] { return children("/t/_coordinator").empty(); }));
  finish();
}

BOOST_AUTO_TEST_CASE(a_decision_that_is_refused_is_told_and_tried_again) {
  begin("x", {"a"});
  vote("x", "a", ballot::yes);
  const acl all_but_write{{perm_read | perm_create | perm_delete | perm_admin, "world", "anyone"}};
  forbid_writing("/t/x", all_but_write);
  auto leader = connect();
  recorder<> coordinating(executor());
  std::vector<std::pair<std::string, error_code>> told;
  commit_coordinator_options options{.vote_timeout = 1h};
  options.on_refused = [&](const std::string& id, error_code why) { told.emplace_back(id, why); };
  over(leader).async_coordinate(options, coordinating.token());
  BOOST_TEST_REQUIRE(run_until([&] { return told.size() == 2; }));
  BOOST_TEST(told[0].first == "x");
  BOOST_TEST(told[0].second == errc::no_auth);
  BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_set_acl("/t/x", open_acl(), any_version, tuple))));
  BOOST_TEST(outcome_of("x").decision == decision::committed);
  coordinating.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return coordinating.done(); }));
  BOOST_TEST(run_until([&] { return children("/t/_coordinator").empty(); }));
  finish();
}

BOOST_AUTO_TEST_CASE(a_coordinator_is_patient_and_then_aborts_and_tidies_up) {
  begin("x", {"a"});
  auto leader = connect();
  recorder<> coordinating(executor());
  recorder<commit_outcome> learnt(executor());
  here().async_outcome("x", learnt.token());
  over(leader).async_coordinate({.vote_timeout = 200ms, .retention = 300ms}, coordinating.token());
  BOOST_TEST_REQUIRE(run_until([&] { return learnt.done(); }));
  BOOST_TEST(!learnt.error());
  BOOST_TEST(learnt.result<0>().decision == decision::aborted);
  BOOST_TEST(run_until([&] { return !exists("/t/x"); }), "cleaned up by age");
  coordinating.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return coordinating.done(); }));
  BOOST_TEST(run_until([&] { return children("/t/_coordinator").empty(); }));
  finish();
}

BOOST_AUTO_TEST_SUITE_END()
