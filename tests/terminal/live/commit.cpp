// `zkadmin commit decide` against real servers and participants.
#include <boost/json/parse.hpp>

#include <zkrecipes/two_phase_commit.hpp>

#include <testcluster/op_code.hpp>

#include "base/failure.hpp"
#include "change/commit_decision.hpp"
#include "live/admin_fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace std::chrono_literals;

BOOST_TEST_DONT_PRINT_LOG_VALUE(zkrecipes::decision)

namespace {

struct decision_fixture : admin_fixture {
  void teardown() {
    if (contains("/t")) BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children("/t", tuple))));
    admin_fixture::teardown();
  }
  two_phase_commit here() { return two_phase_commit(zk(), "/t"); }
  void begin(std::vector<std::string> participants) {
    BOOST_TEST_REQUIRE(!std::get<0>(run(here().async_begin("x", std::move(participants), "data", tuple))));
  }
  decision vote(const std::string& who, ballot what) {
    auto [error, outcome] = run(here().async_vote("x", who, what, "because", tuple));
    BOOST_TEST_REQUIRE(!error, error.message());
    return outcome.decision;
  }
  commit_outcome outcome() {
    auto [error, known] = run(here().async_outcome("x", tuple));
    BOOST_TEST_REQUIRE(!error, error.message());
    return known;
  }
  program_result decide(std::vector<std::string> more = {}, const std::string& id = "x") {
    more.insert(more.begin(), {"commit", "decide", root() + "/t", id, "--transaction-limit", "100ms"});
    return zkadmin(std::move(more));
  }
  /// Once it has been undecided for long enough.
  program_result decide_at_last(const std::vector<std::string>& more = {}) {
    program_result result;
    BOOST_TEST(run_until([&] {
      result = decide(more);
      return result.err.find("may still do so") == std::string::npos;
    }));
    return result;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(commit_suite, decision_fixture)

// The coordinator has died between the last vote and the decision.
BOOST_AUTO_TEST_CASE(what_all_have_voted_for_is_committed) {
  begin({"a", "b"});
  vote("a", ballot::yes);
  vote("b", ballot::yes);
  recorder<commit_outcome> learnt(executor());
  auto participant = here();
  participant.async_outcome("x", learnt.token());
  const auto node = root() + "/t/x";
  const auto shown = decide();
  BOOST_TEST(shown.code == 1);
  BOOST_TEST(shown.out.starts_with("# x of " + root() +
                                   "/t is committed, because all participants have voted yes: a, b\nset " + node +
                                   " version=0 data={"),
             shown.out);
  BOOST_TEST(shown.out.find(R"("decision":"committed")") != std::string::npos, shown.out);
  BOOST_TEST(shown.out.ends_with("check " + node + "/vote-a\ncheck " + node + "/vote-b\n"), shown.out);
  BOOST_TEST(get("/t/x").stat.version == 0);
  const auto done = decide({"--rw"});
  BOOST_TEST(done.code == 0, done.err);
  BOOST_TEST(done.err == shown.out);
  BOOST_TEST(done.out == "decided x of " + root() + "/t: committed\n");
  BOOST_TEST_REQUIRE(run_until([&] { return learnt.done(); }));
  BOOST_TEST(!learnt.error());
  BOOST_TEST(outcome().decision == decision::committed);
  BOOST_TEST(decide({"--rw"}).err == "zkadmin: x of " + root() + "/t is decided: committed: nothing was sent\n");
}

BOOST_AUTO_TEST_CASE(a_vote_that_is_missing_has_its_time) {
  begin({"a", "b", "c"});
  vote("a", ballot::yes);
  const auto early = zkadmin({"commit", "decide", root() + "/t", "x", "--rw"});  // the limit is two minutes
  BOOST_TEST(early.code == 1);
  BOOST_TEST(early.err.starts_with("zkadmin: b, c have not voted on x, and may still do so: "), early.err);
  create("/t/_coordinator");
  create("/t/_coordinator/_c_11-latch-0000000001", "billing-1", create_mode::ephemeral);
  const auto led = decide_at_last({"--rw"});
  BOOST_TEST(led.code == 1);
  BOOST_TEST(led.err ==
             "zkadmin: b, c have not voted on x, and its coordinator is there, which decides in its time: "
             "billing-1: nothing was sent\n");
  remove("/t/_coordinator/_c_11-latch-0000000001");  // it has died
  const auto done = decide_at_last({"--rw"});
  BOOST_TEST(done.code == 0, done.err);
  BOOST_TEST(done.err.starts_with("# x of " + root() +
                                  "/t is aborted, because there is no coordinator, and no vote of b, c for "),
             done.err);
  BOOST_TEST(outcome().decision == decision::aborted);
  BOOST_TEST(outcome().reason == "an operator decided, without a vote of: b, c");
  BOOST_TEST(vote("b", ballot::yes) == decision::aborted);  // it comes too late
}

BOOST_AUTO_TEST_CASE(votes_and_decisions_that_come_meanwhile) {
  begin({"a"});
  const auto prepare = [this] { return run(zkadmin::prepare_decision(zk(), "/t", "x", 0ms)); };
  const auto send = [this](zkadmin::intervention what) -> boost::asio::awaitable<bool> {
    co_await zkadmin::send(zk(), std::move(what));
    co_return true;
  };
  const auto abort = prepare();
  BOOST_TEST(vote("a", ballot::yes) == decision::pending);
  const auto commit = prepare();
  BOOST_TEST(run(send(abort)));  // as that of a coordinator whose time is up
  BOOST_TEST(outcome().decision == decision::aborted);
  BOOST_CHECK_EXCEPTION(run(send(commit)), zkadmin::failure, [](const auto& error) {
    return error.what() == std::string("another has just decided the transaction: nothing was written");
  });
  BOOST_TEST(outcome().decision == decision::aborted);
  BOOST_TEST(get("/t/x").stat.version == 1);
}

BOOST_AUTO_TEST_CASE(a_lost_answer_tells_what_is_seen_afterwards) {
  begin({"a"});
  vote("a", ballot::yes);
  const auto node = root() + "/t/x";
  const std::vector<std::string> through_proxy{"--rw", "--hosts", own().address()};
  own().drop_request(testcluster::op::multi);
  const auto before = decide(through_proxy);
  BOOST_TEST(fails(before, 1, "sending the request: "));
  BOOST_TEST(before.err.ends_with(node + " is as it was\n"), before.err);
  BOOST_TEST(get("/t/x").stat.version == 0);
  own().drop_reply(testcluster::op::multi);
  const auto behind = decide(through_proxy);
  BOOST_TEST(behind.code == 1);
  BOOST_TEST(behind.err.ends_with(node + " holds what was to be written\n"), behind.err);
  BOOST_TEST((outcome().decision == decision::committed && get("/t/x").stat.version == 1));
  const auto again = decide(through_proxy);  // what is decided is not decided again
  BOOST_TEST(again.code == 1);
  BOOST_TEST(again.err.ends_with(": nothing was sent\n"), again.err);
  BOOST_TEST(get("/t/x").stat.version == 1);
}

BOOST_AUTO_TEST_CASE(a_vote_that_is_no_yes_is_never_committed) {
  begin({"a", "b"});
  vote("a", ballot::yes);
  create("/t/x/vote-b", R"({"zkrecipes":"vote","vote":"perhaps","reason":"later"})");  // as no version writes it
  const auto done = decide({"--rw"});
  BOOST_TEST(done.code == 0, done.err);
  BOOST_TEST(outcome().decision == decision::aborted);
  BOOST_TEST(outcome().reason == "b: later");
}

BOOST_AUTO_TEST_CASE(what_can_not_be_decided) {
  begin({"a"});
  BOOST_TEST(decide({"--rw"}, "y").err == "zkadmin: there is no transaction at " + root() + "/t/y\n");
  create("/t/z", "not ours");
  BOOST_TEST(decide({"--rw"}, "z").err == "zkadmin: " + root() + "/t/z holds no record of a transaction\n");
  create("/t/x/vote-a", "not ours");
  BOOST_TEST(decide({"--rw"}).err == "zkadmin: " + root() + "/t/x/vote-a holds no vote: nothing was sent\n");
  BOOST_TEST(decide({}, "_undecided").code == 2);
  BOOST_TEST(zkadmin({"commit", "decide", root() + "/t"}).code == 2);
}

BOOST_AUTO_TEST_SUITE_END()
