// `zkadmin recipes` and `zkadmin commit decide` against real servers.
#include <deque>
#include <list>
#include <optional>

#include <boost/json/parse.hpp>

#include <zkrecipes/barrier.hpp>
#include <zkrecipes/consumer/shared_limiter.hpp>
#include <zkrecipes/double_barrier.hpp>
#include <zkrecipes/flow/once_per.hpp>
#include <zkrecipes/flow/shared_balance.hpp>
#include <zkrecipes/flow/shared_gate.hpp>
#include <zkrecipes/lock.hpp>
#include <zkrecipes/membership.hpp>
#include <zkrecipes/persistent_node.hpp>
#include <zkrecipes/priority_queue.hpp>
#include <zkrecipes/queue.hpp>
#include <zkrecipes/read_write_lock.hpp>
#include <zkrecipes/semaphore.hpp>
#include <zkrecipes/service_discovery.hpp>
#include <zkrecipes/two_phase_commit.hpp>

#include <testcluster/op_code.hpp>

#include "base/failure.hpp"
#include "change/commit_decision.hpp"
#include "live/admin_fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace std::chrono_literals;
namespace json = boost::json;

// `zkadmin commit decide` against real servers and participants.

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
  const auto before = get("/t").stat.cversion;
  const auto early = zkadmin({"commit", "decide", root() + "/t", "x", "--rw"});  // the limit is two minutes
  BOOST_TEST(early.code == 1);
  BOOST_TEST(early.err.starts_with("zkadmin: b, c have not voted on x, and may still do so: "), early.err);
  const auto has_changed = [&](int so_often) { return get("/t").stat.cversion == before + so_often; };
  BOOST_TEST(run_until([&] { return has_changed(2); }), "the servers have told their clock");
  const auto shown = decide_at_last();
  BOOST_TEST(shown.out.find("by this machine's clock\nset ") != std::string::npos, shown.out);
  BOOST_TEST(zkadmin({"commit", "decide", root() + "/t", "x", "--rw"}).err.find("this machine") == std::string::npos);
  BOOST_TEST(run_until([&] { return has_changed(4); }), "what was only shown has written nothing");
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

BOOST_AUTO_TEST_CASE(without_the_right_to_make_a_node_this_clock_has_a_minute_more) {
  begin({"a"});
  const acl closed{{perm_all & ~perm_create, "world", "anyone"}};
  BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_set_acl("/t", closed, any_version, tuple))));
  settle(zk());
  const auto early = decide({"--rw"});
  BOOST_TEST(early.code == 1);
  BOOST_TEST(early.err.ends_with(" by this machine's clock, and the limit (transaction_limit) is 100 ms, and 1m 00s "
                                 "for that clock: nothing was sent\n"),
             early.err);
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

// `zkadmin recipes` against real servers, with recipes of this library.

BOOST_FIXTURE_TEST_SUITE(recipes_suite, recipe_fixture)

BOOST_AUTO_TEST_CASE(a_lock_with_its_holder_and_those_that_wait) {
  lock first(zk(), "/lock", {.id = "first"}), second(zk(), "/lock", {.id = "second"});
  const auto held = run(first.async_acquire(tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(held));
  recorder<ownership> waiting(executor());
  second.async_acquire(waiting.token());
  removes("/lock");
  BOOST_TEST_REQUIRE(run_until([&] { return children("/lock").size() == 2; }));

  const auto seen = recipe_at("/lock");
  BOOST_TEST(seen.at("kind") == "lock");
  BOOST_TEST(seen.at("client") == "zkrecipes");
  BOOST_TEST(seen.at("state") == "held");
  BOOST_TEST(seen.at("holder") == "first");
  BOOST_TEST(seen.at("waiting").as_int64() == 1);
  BOOST_TEST(seen.at("age_ms").as_int64() >= 0);
  BOOST_TEST(seen.at("session").as_string() == session_text(zk()));
  BOOST_TEST(roles_of(seen) == "holder first, waiter second");
  BOOST_TEST(seen.at("participants").at(0).at("token").as_int64() == std::get<1>(held).token());

  BOOST_TEST(!std::get<0>(run(first.async_request_revocation(5s, tuple))));
  const auto one = zkadmin({"recipes", root() + "/lock"});
  BOOST_TEST(one.code == 0, one.err);
  BOOST_TEST(one.out.starts_with(root() + "/lock: lock, held, layout of zkrecipes\n"), one.out);
  BOOST_TEST(one.out.find("asked to give up within 5.0 s") != std::string::npos, one.out);
  waiting.cancel();
  BOOST_TEST(run_until([&] { return waiting.done(); }));
}

BOOST_AUTO_TEST_CASE(readers_and_a_writer) {
  read_write_lock both(zk(), "/both", {.id = "me"});
  const auto read = run(both.async_acquire_read(tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(read));
  recorder<ownership> writer(executor());
  both.async_acquire_write(writer.token());
  removes("/both");
  BOOST_TEST_REQUIRE(run_until([&] { return children("/both").size() == 2; }));
  const auto seen = recipe_at("/both");
  BOOST_TEST(seen.at("kind") == "read_write_lock");
  BOOST_TEST(seen.at("state") == "held for reading");
  BOOST_TEST(seen.at("participants").at(0).at("detail") == "read");
  BOOST_TEST(seen.at("participants").at(1).at("detail") == "write");
  BOOST_TEST(roles_of(seen) == "holder me, waiter me");
  writer.cancel();
  BOOST_TEST(run_until([&] { return writer.done(); }));
}

BOOST_AUTO_TEST_CASE(permits_that_are_taken) {
  semaphore three(zk(), "/permits", 3, {.id = "me"});
  const auto two = run(three.async_acquire(2, tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(two));
  recorder<ownership> waiting(executor());
  three.async_acquire(2, waiting.token());
  removes("/permits");
  BOOST_TEST_REQUIRE(run_until([&] { return children("/permits").size() == 2; }));
  auto seen = recipe_at("/permits");
  BOOST_TEST(seen.at("kind") == "semaphore");
  BOOST_TEST((seen.at("size").as_int64() == 3 && seen.at("taken").as_int64() == 2));
  BOOST_TEST(seen.at("waiting").as_int64() == 1);
  BOOST_TEST(seen.at("participants").at(0).at("detail") == "2 permits");
  waiting.cancel();
  BOOST_TEST(run_until([&] { return waiting.done(); }));

  BOOST_TEST(!std::get<0>(run(three.async_resize(1, tuple))));
  seen = recipe_at("/permits");
  BOOST_TEST((seen.at("size").as_int64() == 1 && seen.at("taken").as_int64() == 2));
  BOOST_TEST(seen.at("problems").as_array().empty(), "right after the resize");
  BOOST_TEST(run_until([&] {
    const auto result = zkadmin({"check", "--permit-limit", "100ms"});
    return result.code == 1 && result.out.find("warning too-many-permits " + root() + "/permits") != std::string::npos;
  }));
}

BOOST_AUTO_TEST_CASE(barriers) {
  barrier gate(zk(), "/gate");
  BOOST_TEST(!std::get<0>(run(gate.async_raise(tuple))));
  BOOST_TEST(recipe_at("/gate").at("state") == "raised");
  BOOST_TEST(!std::get<0>(run(gate.async_lift(tuple))));
  const auto lifted = zkadmin({"recipes", root() + "/gate", "--kind", "barrier", "-o", "json"});
  BOOST_TEST(lifted.code == 0, lifted.err);
  BOOST_TEST(json::parse(lifted.out).at("recipes").at(0).at("state") == "lifted");

  double_barrier round(zk(), "/round", 2);
  recorder<attendance> entering(executor());
  round.async_enter(entering.token());
  removes("/round");
  BOOST_TEST_REQUIRE(run_until([&] { return contains("/round") && children("/round").size() == 1; }));
  const auto seen = recipe_at("/round");
  BOOST_TEST(seen.at("kind") == "double_barrier");
  BOOST_TEST(seen.at("state") == "gathering");
  BOOST_TEST((seen.at("size").as_int64() == 2 && seen.at("taken").as_int64() == 1));
  entering.cancel();
  BOOST_TEST(run_until([&] { return entering.done(); }));
}

BOOST_AUTO_TEST_CASE(queues_with_claims_and_letters) {
  queue jobs(zk(), "/jobs");
  removes("/jobs");
  for (int i = 0; i < 4; ++i) BOOST_TEST(!std::get<0>(run(jobs.async_put("x", tuple))));
  const auto taken = run(jobs.async_take(tuple)), bad = run(jobs.async_take(tuple));
  BOOST_TEST_REQUIRE((!std::get<0>(taken) && !std::get<0>(bad)));
  BOOST_TEST(!std::get<0>(run(jobs.async_reject(std::get<1>(bad), "no good", tuple))));
  const auto seen = recipe_at("/jobs");
  BOOST_TEST(seen.at("kind") == "queue");
  BOOST_TEST(seen.at("waiting").as_int64() == 3);
  BOOST_TEST(seen.at("facts").at("order") == "FIFO");
  BOOST_TEST(seen.at("facts").at("dead_letters").as_int64() == 1);
  BOOST_TEST(roles_of(seen) == "claim qn-0000000000, letter qn-0000000001");
  BOOST_TEST(seen.at("participants").at(0).at("session").as_string() == session_text(zk()));
  BOOST_TEST(seen.at("participants").at(1).at("detail") == "1 attempts: no good");
  BOOST_TEST(seen.at("problems").at(0).at("name") == "dead-letters");

  priority_queue ranked(zk(), "/ranked");
  removes("/ranked");
  removes("/ranked-side");
  BOOST_TEST(!std::get<0>(run(ranked.async_put("x", 7, tuple))));
  BOOST_TEST_REQUIRE(!std::get<0>(run(ranked.async_take(tuple))));
  const auto claimed = recipe_at("/ranked");
  BOOST_TEST(claimed.at("facts").at("order") == "priority");
  BOOST_TEST(claimed.at("facts").at("claimed").as_int64() == 1);
  BOOST_TEST(list("queue").as_array().size() == 2u, "the side folder is no queue of its own");
}

// Nothing else of it is there.
BOOST_AUTO_TEST_CASE(a_queue_is_recognised_by_a_parked_key) {
  removes("/q");
  for (const auto* each : {"/q", "/q/_parked", "/q/_parked/6f0f5b64-3a0e-5a5e-9c4b-0f4d3f6a7d11"}) create(each);
  const auto seen = recipe_at("/q");
  BOOST_TEST(seen.at("kind") == "queue");
  BOOST_TEST(seen.at("facts").at("parked_keys").as_int64() == 1);
  BOOST_TEST(seen.at("problems").at(0).at("name") == "parked-key");
}

BOOST_AUTO_TEST_CASE(members_services_and_nodes) {
  membership group(zk(), "/group");
  removes("/group");
  auto joined = run(group.async_join("a", "10.0.0.1", tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(joined));
  const auto guessed = recipe_at("/group");
  BOOST_TEST(guessed.at("kind").is_null());
  BOOST_TEST(guessed.at("kinds").at(0) == "membership");
  const auto known = recipe_at("/group", {"--recipes", "membership:" + root() + "/group"});
  BOOST_TEST(known.at("kind") == "membership");
  BOOST_TEST(roles_of(known) == "member a");
  BOOST_TEST(known.at("participants").at(0).at("detail") == "10.0.0.1");

  removes("/nobody");
  create("/nobody");
  const auto nobody = recipe_at("/nobody", {"--recipes", "membership:" + root() + "/nobody"});
  BOOST_TEST(nobody.at("problems").at(0).at("name") == "no-instances");

  service_discovery services(zk(), "/services");
  removes("/services");
  service_instance one;
  one.name = "mail";
  one.id = "1";
  one.address = "10.0.0.7";
  one.port = 25;
  auto registered = run(services.async_register(one, tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(registered));
  const auto service = recipe_at("/services/mail");
  BOOST_TEST(service.at("kind") == "service");
  BOOST_TEST(service.at("state") == "1 instance");
  BOOST_TEST(service.at("participants").at(0).at("detail") == "10.0.0.7:25");

  persistent_node node(zk(), "/node", "data");
  BOOST_TEST(!std::get<0>(run(node.async_started(tuple))));
  const auto of_node = recipe_at("/node", {"--recipes", "persistent_node:" + root() + "/node"});
  BOOST_TEST(of_node.at("state") == "ephemeral");
  BOOST_TEST(of_node.at("session").as_string() == session_text(zk()));
  BOOST_TEST(of_node.at("facts").at("data") == "data");
  BOOST_TEST(!std::get<0>(run(node.async_close(tuple))));
  BOOST_TEST(!std::get<0>(run(std::get<1>(registered).async_unregister(tuple))));
  BOOST_TEST(!std::get<0>(run(std::get<1>(joined).async_leave(tuple))));
}

BOOST_AUTO_TEST_CASE(elections_are_among_them) {
  join("/e", "a");
  join("/e", "b");
  leaves("/e");
  election("/e", is_executing);
  const auto seen = recipe_at("/e");
  BOOST_TEST(seen.at("kind") == "election");
  BOOST_TEST(seen.at("state") == "executing");
  BOOST_TEST(roles_of(seen) == "leader a, waiter b");
  BOOST_TEST(list("lock").as_array().empty());
}

// A consumer has created its effects there.
BOOST_AUTO_TEST_CASE(numbers_of_one_sequence_do_not_use_up_the_search_and_one_that_is_something_is_found) {
  const auto make = [this](const std::string& folder, int count) {
    create(folder);
    removes(folder);
    for (int i = 0; i < count;) {
      transaction some;
      for (int k = 0; k < 500 && i < count; ++k, ++i) {
        const auto digits = std::to_string(i);
        some.create(folder + "/r-" + std::string(10 - digits.size(), '0') + digits, "done");
      }
      const auto made = run(zk().async_commit(some, tuple));
      BOOST_TEST_REQUIRE(!std::get<0>(made), std::get<0>(made).message());
    }
  };
  make("/effects", 10'200);
  make("/few", 300);
  lock inside(zk(), "/few/r-0000000000", {.id = "me"});  // which is not among those that are looked at first
  const auto held = run(inside.async_acquire(tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(held));
  BOOST_TEST(recipe_at("/few/r-0000000000").at("state") == "held");
  create("/few/r-0000000001/below");
  BOOST_TEST(recipe_at("/few/r-0000000000").at("state") == "held");
}

BOOST_AUTO_TEST_CASE(what_is_declared_and_not_there_is_told) {
  zk();
  const auto path = root() + "/nothing";
  const auto result = zkadmin({"recipes", "--recipes", "lock:" + path, "-o", "json"});
  BOOST_TEST(result.code == 1);
  BOOST_TEST(json::parse(result.out).at("recipes").at(0).at("access") == "missing");
  BOOST_TEST(result.err.find("note: " + path + ": there is no lock") != std::string::npos, result.err);
  BOOST_TEST(zkadmin({"recipes", "--queues", path}).err.find("note: " + path + ": there is no queue") !=
             std::string::npos);
  BOOST_TEST(zkadmin({"recipes", path}).err == "zkadmin: there is no node " + path + "\n");
  create("/plain");
  leaves("/plain");
  BOOST_TEST(zkadmin({"recipes", root() + "/plain"}).err ==
             "zkadmin: nothing tells what " + root() + "/plain is; name its kind with --kind\n");
  BOOST_TEST(fails(zkadmin({"recipes", "--kind", "mutex"}), 2, "expected a kind of recipe: election, "));
}

BOOST_AUTO_TEST_SUITE_END()

// `zkadmin recipes` against real servers, with what processes share.

BOOST_FIXTURE_TEST_SUITE(shared_recipes_suite, recipe_fixture)

BOOST_AUTO_TEST_CASE(a_gate_with_one_inside_and_one_that_waits) {
  shared_gate first(zk(), "/gate", {.id = "first"}), second(zk(), "/gate", {.id = "second"});
  removes("/gate");
  auto pass = run(first.async_enter("key", arrival::first, tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(pass), std::get<0>(pass).message());
  recorder<shared_gate_pass> waiting(executor());
  second.async_enter("key", arrival::first, waiting.token());
  BOOST_TEST_REQUIRE(run_until([&] { return roles_of(recipe_at("/gate")) == "holder first, waiter second"; }));
  const auto seen = recipe_at("/gate");
  BOOST_TEST(seen.at("kind") == "shared_gate");
  BOOST_TEST((seen.at("state") == "in use" && seen.at("holder") == "first" && seen.at("waiting").as_int64() == 1));
  BOOST_TEST(seen.at("facts").at("buckets").as_int64() == 64);
  BOOST_TEST(seen.at("facts").at("callers").as_int64() == 2);
  BOOST_TEST(seen.at("session").as_string() == session_text(zk()));
  const auto parts = zkadmin({"sessions", session_text(zk()), "-o", "tsv", "--admin-port", "0"});
  BOOST_TEST(parts.out.find("\tshared gate\t" + root() + "/gate\tholder\n") != std::string::npos, parts.out);
  waiting.cancel();
  BOOST_TEST(run_until([&] { return waiting.done(); }));
  BOOST_TEST(!std::get<0>(run(std::get<1>(pass).async_leave(tuple))));
}

BOOST_AUTO_TEST_CASE(calls_once_per_period) {
  once_per calls(zk(), "/once", {.id = "me", .per = std::chrono::hours(24)});
  removes("/once");
  const auto claimed = run(calls.async_claim("invoice-7", "note", tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(claimed), std::get<0>(claimed).message());
  const auto seen = recipe_at("/once");
  BOOST_TEST(seen.at("kind") == "once_per_period");
  BOOST_TEST(roles_of(seen) == "intent me");
  BOOST_TEST(seen.at("participants").at(0).at("detail") == "invoice-7, note");
  BOOST_TEST(seen.at("facts").at("period_length_ms").as_int64() == 86'400'000);
  BOOST_TEST(seen.at("facts").at("intents").as_int64() == 1);
  BOOST_TEST(!std::get<0>(run(calls.async_withdraw(std::get<1>(claimed), tuple))));
  BOOST_TEST(roles_of(recipe_at("/once")) == "withdrawn me");
}

BOOST_AUTO_TEST_CASE(a_balance_and_its_members) {
  shared_balance pace(zk(), "/pace", {.id = "me", .range = 100});
  removes("/pace");
  recorder<> running(executor());
  pace.async_run(running.token());
  auto track = pace.track("t");
  BOOST_TEST_REQUIRE(run_until([&] { return contains("/pace/members") && children("/pace/members").size() == 1; }));
  const auto seen = recipe_at("/pace");
  BOOST_TEST(seen.at("kind") == "shared_balance");
  BOOST_TEST(seen.at("state") == "1 member");
  BOOST_TEST(roles_of(seen) == "member me");
  BOOST_TEST(seen.at("facts").at("range").as_int64() == 100);
  BOOST_TEST(seen.at("facts").at("limit").as_int64() >= 100);
  BOOST_TEST(list("membership").as_array().empty(), "the folder of its members is none");
  const auto parts = zkadmin({"sessions", session_text(zk()), "-o", "tsv", "--admin-port", "0"});
  BOOST_TEST(parts.out.find("\tshared balance\t" + root() + "/pace\tmember\n") != std::string::npos, parts.out);
  pace.stop();
  BOOST_TEST(run_until([&] { return running.done(); }));
}

BOOST_AUTO_TEST_CASE(a_limiter_is_a_shard_group_with_rates) {
  shared_limiter limit(zk(), "/limit", {.id = "me", .rate = 1000, .slices = 4, .burst = 200});
  removes("/limit");
  recorder<> running(executor());
  limit.async_run(running.token());
  BOOST_TEST_REQUIRE(run_until([&] { return limit.try_acquire(); }));
  const auto seen = recipe_at("/limit");
  BOOST_TEST(seen.at("kind").is_null());
  BOOST_TEST(seen.at("kinds").at(1) == "shared_limiter");
  BOOST_TEST(seen.at("facts").at("shards").as_int64() == 4);
  const std::string detail(seen.at("participants").at(0).at("detail").as_string());
  BOOST_TEST(detail.ends_with("1000 in 1.0 s, burst 200"), detail);
  BOOST_TEST(list("shared_limiter").as_array().size() == 1u);
  const auto known = recipe_at("/limit", {"--recipes", "shared_limiter:" + root() + "/limit"});
  BOOST_TEST(known.at("kind") == "shared_limiter");
  limit.stop();
  BOOST_TEST(run_until([&] { return running.done(); }));
}

BOOST_AUTO_TEST_SUITE_END()
