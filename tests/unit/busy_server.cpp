// Operations that the server throttles: each is done as soon as the server has time, and nothing false is concluded.
#include <zkrecipes/barrier.hpp>
#include <zkrecipes/double_barrier.hpp>
#include <zkrecipes/election.hpp>
#include <zkrecipes/persistent_node.hpp>
#include <zkrecipes/queue.hpp>
#include <zkrecipes/service_provider.hpp>
#include <zkrecipes/two_phase_commit.hpp>

#include "barrier/round_view.hpp"
#include "commit/transaction_index.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

session_options impatient() {
  auto options = fake_session::usual();
  options.retry.limit = 1s;
  return options;
}

struct busy : fake_session {
  busy() : fake_session(impatient()) { connect(); }

  /// The server throttles every pending request. Exactly the same requests must follow after a pause.
  void throttle_all() {
    const auto asked = pending();
    for (std::size_t i = 0; i < asked.size(); ++i) throttle();
    CHECK_PENDING();
    advance(75ms);
    BOOST_TEST(pending() == asked, boost::test_tools::per_element());
  }
  void answer_data(std::string data) { answer_with({.data = std::move(data)}); }
  /// The first node of the path is there, and the server refuses the others behind it: they go one by one.
  void ask_for_the_second_alone(recorder<>& made) {
    zk.async_ensure_path("/a/b/c", made.token());
    settle();
    CHECK_PENDING("create /a", "create /a/b", "create /a/b/c");
    fail(errc::node_exists);
    throttle();
    throttle();
    advance(75ms);
    CHECK_PENDING("create /a");
    fail(errc::node_exists);
    CHECK_PENDING("create /a/b");
  }
  const std::string item = "qn-0000000001";
};

struct busy_commits : busy {
  /// Answers the oldest request. Transaction `t` is undecided, but the server throttles every request for its node.
  void serve() {
    const auto& asked = last().pending.front().first;
    if (asked.path == "/c/t") return void(throttle());
    backend::reply reply;
    if (asked.op == backend::opcode::get && asked.path == "/c") reply.data = detail::indexed_data();
    if (asked.op == backend::opcode::children && asked.path == "/c/_undecided") reply.children = {"t"};
    if (asked.op == backend::opcode::multi) reply.results.resize(asked.operations.size());
    for (const auto& each : asked.operations) removed = removed || each.path == "/c/_undecided/t";
    removed = removed || (asked.path == "/c/_undecided/t" && asked.op == backend::opcode::remove);
    answer(std::move(reply));
  }

  two_phase_commit commits{zk, "/c"};
  bool removed = false;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(busy_servers, busy)

BOOST_AUTO_TEST_CASE(a_take_goes_on) {
  queue line(zk, "/q");
  auto taken = line.async_take(begun());
  CHECK_PENDING("children /q");
  throttle_all();
  list({item});
  list({item});
  CHECK_PENDING("multi /", "get /q/" + item);
  throttle_all();
  answer();
  throttle();
  advance(75ms);
  CHECK_PENDING("get /q/" + item);
  answer_data("data");
  BOOST_TEST_REQUIRE(succeeded(taken));
  BOOST_TEST(taken.result<0>().data == "data");
}

BOOST_AUTO_TEST_CASE(a_put_is_done_once_it_can) {
  queue line(zk, "/q");
  auto put = line.async_put("x", begun());
  answer();  // the look at the queue's length, before the first put of an object
  CHECK_PENDING("create /q/qn-");
  throttle_all();
  answer();
  BOOST_TEST_REQUIRE(succeeded(put));
}

BOOST_AUTO_TEST_CASE(a_put_into_a_queue_with_a_limit_draws_its_ticket_again) {
  queue line(zk, "/q", {.limit = 3});
  auto put = line.async_put("x", begun());
  CHECK_PENDING("multi /", "exists /q/_gate", "exists /q");
  throttle();
  answer();
  answer();
  CHECK_PENDING();
  advance(75ms);
  CHECK_PENDING("multi /", "exists /q/_gate", "exists /q");
  BOOST_TEST(!put.done());
}

// A server that refuses what has waited for too long refuses a request behind each slow write.
BOOST_AUTO_TEST_CASE(what_is_refused_behind_a_write_of_ours_waits_for_its_answer) {
  persistent_node node(zk, "/a", "one");
  auto started = node.async_started(begun());
  backend::reply there;
  there.data = "one";
  there.stat.czxid = there.stat.mzxid = 5;
  there.stat.ephemeral_owner = 0x77;
  answer(there);
  answer(there);
  BOOST_TEST_REQUIRE(started.done());
  auto written = node.async_set_data("two", begun());
  CHECK_PENDING("multi /", "exists /a");
  fail(errc::no_node);  // the multi is a check of a node that is never there
  throttle();
  advance(75ms);
  CHECK_PENDING("multi /");
  fail(errc::no_node);
  CHECK_PENDING("exists /a");
  throttle();
  advance(75ms);
  CHECK_PENDING("exists /a");
  lose(errc::connection_loss);
  connect();
  CHECK_PENDING("multi /");
  fail(errc::no_node);
  CHECK_PENDING("exists /a");
  answer(there);
  CHECK_PENDING("set /a");
}

BOOST_AUTO_TEST_CASE(a_path_is_made_node_by_node_where_the_second_is_refused_behind_the_first) {
  auto made = record<>();
  ask_for_the_second_alone(made);
  answer();
  CHECK_PENDING("create /a/b/c");
  answer();
  BOOST_TEST_REQUIRE(succeeded(made));
}

BOOST_AUTO_TEST_CASE(of_requests_that_go_one_by_one_none_follows_a_cancelled_one) {
  auto made = record<>();
  ask_for_the_second_alone(made);
  made.cancel();
  settle();
  BOOST_TEST_REQUIRE(ended_with(made, asio::error::operation_aborted));
  CHECK_PENDING("create /a/b");
}

BOOST_AUTO_TEST_CASE(nor_one_that_the_server_was_too_busy_for_until_the_limit) {
  auto made = record<>();
  ask_for_the_second_alone(made);
  advance(1s);
  throttle();
  BOOST_TEST_REQUIRE(ended_with(made, errc::server_error));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_put_and_a_take_are_told_after_the_limit) {
  queue line(zk, "/q");
  auto put = line.async_put("x", recorded());
  auto taken = line.async_take(begun());
  for (int i = 0; i < 100 && !(put.done() && taken.done()); ++i) {
    while (!pending().empty()) throttle();
    advance(100ms);
  }
  BOOST_TEST_REQUIRE((put.done() && taken.done()));
  BOOST_TEST((put.error() == errc::server_error), put.error().message());
  BOOST_TEST((taken.error() == errc::server_error), taken.error().message());
}

BOOST_AUTO_TEST_CASE(a_node_that_is_kept_stands_later) {
  persistent_node node(zk, "/a", "one");
  auto started = node.async_started(begun());
  CHECK_PENDING("create /a", "get /a");
  throttle();
  throttle();
  BOOST_TEST(!started.done());
  advance(1s);
  CHECK_PENDING("create /a", "get /a");
  backend::reply there;
  there.data = "one";
  there.stat.czxid = there.stat.mzxid = 5;
  there.stat.ephemeral_owner = 0x77;
  answer(there);
  answer(there);
  BOOST_TEST_REQUIRE(succeeded(started));
}

BOOST_AUTO_TEST_CASE(instances_that_are_known_are_chosen_meanwhile) {
  service_discovery services(zk, "/s");
  service_provider from(services, "b", {});
  settle();
  list({"1"});
  answer_data(*to_json(service_instance{.name = "b", .id = "1"}));
  fire(backend::change::children, "/s/b");
  advance(1s);
  CHECK_PENDING("children /s/b");
  throttle();
  auto picked = from.async_pick(begun());
  BOOST_TEST_REQUIRE(succeeded(picked));
}

BOOST_AUTO_TEST_CASE(a_member_of_a_double_barrier_is_out_only_when_all_are) {
  double_barrier barrier(zk, "/b", 3);
  auto entering = barrier.async_enter(begun());
  const auto other = [](int number) {
    return "_c_b0000000-0000-0000-0000-00000000000" + std::to_string(number) + "-3-member-000000000" +
           std::to_string(number);
  };
  std::string own;
  while (!last().pending.empty()) {
    const auto asked = last().pending.front().first;
    backend::reply reply;
    if (asked.op == backend::opcode::create) own = reply.path = asked.path + "0000000001";
    if (asked.op == backend::opcode::children) reply.children = {own.substr(3), other(2), other(3)};
    if (asked.op == backend::opcode::multi) reply.results.resize(asked.operations.size());
    reply.stat.ephemeral_owner = 0x77;
    answer(std::move(reply));
  }
  BOOST_TEST_REQUIRE(succeeded(entering));
  auto inside = std::move(entering.result<0>());
  auto leaving = inside.async_leave(begun());
  CHECK_PENDING("remove " + own, "children /b");
  answer();
  list({other(2), other(3)});
  CHECK_PENDING("get /b/" + other(2), "children /b");
  const auto is_look_at_other = [&] {
    while (pending().empty()) advance(50ms);
    return pending().front().starts_with("get");
  };
  for (int i = 0; i < 60; ++i) {
    if (is_look_at_other()) {
      fail(errc::no_node);
    } else {
      throttle();
    }
    BOOST_TEST_REQUIRE(!leaving.done(), "the third is still there");
  }
  if (is_look_at_other()) fail(errc::no_node);
  list({other(3)});
  BOOST_TEST(!leaving.done());
  CHECK_PENDING("get /b/" + other(3), "children /b");
  fail(errc::no_node);
  list({});
  BOOST_TEST_REQUIRE(succeeded(leaving));
}

// A throttled request was surely not executed, so nothing has to be found out before the raise ends.
BOOST_AUTO_TEST_CASE(what_was_not_executed_is_known_not_to_be) {
  barrier gate(zk, "/b");
  auto raised = gate.async_raise(begun());
  CHECK_PENDING("create /b");
  throttle();
  auto closing = zk.async_close(begun());
  lose(errc::closed);
  BOOST_TEST_REQUIRE(ended_with(raised, errc::closed));
}

// After five reads between which something changed, a view is given although its parts may not fit together. Throttled
// reads are not counted among the five.
BOOST_AUTO_TEST_CASE(a_view_of_an_election_is_read_when_the_server_has_time) {
  fake_session it;
  it.connect();
  election line(it.zk, "/e", election_options{.id = "me"});
  auto seen = line.async_view(it.begun());
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < 50 && it.pending().empty(); ++k) it.advance(100ms);
    BOOST_TEST_REQUIRE(!it.pending().empty());
    while (!it.pending().empty()) it.throttle();
    BOOST_TEST_REQUIRE(!seen.done());
  }
  for (int k = 0; k < 50 && it.pending().empty(); ++k) it.advance(100ms);
  backend::reply node;
  node.stat.mzxid = 1;
  it.answer(node);
  it.list({});
  CHECK_PENDING_OF(it, "exists /e");
  node.stat.mzxid = 2;
  it.answer(node);
  CHECK_PENDING_OF(it, "get /e", "children /e");
  while (!it.pending().empty()) it.fail(errc::no_node);
  BOOST_TEST_REQUIRE(ended_with(seen, errc::no_node));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(busy_servers_of_commits, busy_commits)

BOOST_AUTO_TEST_CASE(a_transaction_that_is_not_shown_is_not_taken_for_gone) {
  auto cleaned = commits.async_clean_up(1s, begun());
  for (int i = 0; i < 200 && !cleaned.done(); ++i) {
    while (!last().pending.empty()) serve();
    advance(100ms);
  }
  BOOST_TEST_REQUIRE(ended_with(cleaned, errc::server_error));
  BOOST_TEST(!removed);
}

BOOST_AUTO_TEST_CASE(a_coordinator_without_a_root_asks_now_and_then) {
  auto running = commits.async_coordinate({"me"}, begun());
  int asked = 0;
  for (int i = 0; i < 200; ++i) {
    for (; !last().pending.empty() && asked < 10'000; ++asked) fail(errc::no_node);
    advance(100ms);
  }
  BOOST_TEST(asked < 1'000);
  BOOST_TEST(asked > 20, "it is there when the root is");
  BOOST_TEST(!running.done());
}

BOOST_AUTO_TEST_CASE(a_coordinator_does_not_give_up) {
  auto running = commits.async_coordinate({"me"}, begun());
  std::string own;
  bool leads = false;
  for (int i = 0; i < 200; ++i) {
    while (!last().pending.empty()) {
      const auto asked = last().pending.front().first;
      const bool is_of_line = asked.path.starts_with("/c/_coordinator");
      leads = leads || !is_of_line;
      if (!is_of_line) {
        throttle();
        continue;
      }
      backend::reply reply;
      if (asked.op == backend::opcode::create) own = reply.path = asked.path + "0000000001";
      if (asked.op == backend::opcode::children) reply.children = {own.substr(own.rfind('/') + 1)};
      reply.stat.ephemeral_owner = 0x77;
      answer(std::move(reply));
    }
    advance(100ms);
  }
  BOOST_TEST(leads);
  BOOST_TEST(!running.done(), running.error().message());
  running.cancel();
  settle();
  for (int i = 0; i < 20 && !running.done(); ++i) {
    while (!last().pending.empty()) answer();
    advance(100ms);
  }
  BOOST_TEST_REQUIRE(ended_with(running, asio::error::operation_aborted));
}

BOOST_AUTO_TEST_SUITE_END()
