// Many callers of one key at once, many callers of other keys, and the number of buckets.
#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/flow/shared_gate.hpp>

#include "ensemble/ensemble_case.hpp"
#include "ensemble/request_log.hpp"

namespace zkrecipes::test {

// Callers of a shared gate from several sessions, for the tests with many of them.

/// All stand in one bucket.
class gate_callers : public ensemble_case {
 public:
  static constexpr const char* gate_path = "/gate";
  static constexpr const char* bucket = "/gate/0";

  void teardown() {
    waiting.clear();
    BOOST_TEST(run_until([&] { return callers_left() == 0; }), "a caller is left");
    if (exists(gate_path)) run(zk().async_remove_with_children(gate_path, tuple));
    sessions.clear();
    ensemble_case::teardown();
  }

  static shared_gate_options single() {
    shared_gate_options made;
    made.buckets = 1;
    return made;
  }
  session& add(session by) { return sessions.emplace_back(std::move(by)); }
  session& add() { return add(connect()); }
  recorder<shared_gate_pass>& enters(const session& by, const std::string& key, arrival how = arrival::first) {
    auto& entry = waiting.emplace_back(executor());
    shared_gate(by, gate_path, single()).async_enter(key, how, entry.token());
    return entry;
  }
  /// Enters, and waits until its node stands: the order of calls of several sessions is that of their nodes.
  recorder<shared_gate_pass>& stands(const session& by, const std::string& key, arrival how = arrival::first) {
    const auto before = there();
    auto& entry = enters(by, key, how);
    BOOST_TEST_REQUIRE(run_until([&] { return entry.done() || there() > before; }));
    return entry;
  }
  std::size_t there() { return exists(bucket) ? children(bucket).size() : 0; }
  /// The nodes in the order of the line.
  std::vector<std::string> line() {
    auto all = children(bucket);
    std::ranges::sort(all, std::less(), [](const std::string& each) { return each.substr(each.size() - 10); });
    return all;
  }
  void wait(const std::function<bool()>& condition, std::source_location where = std::source_location::current()) {
    BOOST_TEST_REQUIRE(run_until(condition), "in vain from line " << where.line());
  }
  shared_gate_pass gets_in(recorder<shared_gate_pass>& which,
                           std::source_location where = std::source_location::current()) {
    wait([&] { return which.done(); }, where);
    BOOST_TEST_REQUIRE(!which.error(), which.error().message() << " from line " << where.line());
    return std::move(which.result<0>());
  }
  void fails(recorder<shared_gate_pass>& which, errc why,
             std::source_location where = std::source_location::current()) {
    wait([&] { return which.done(); }, where);
    BOOST_TEST((which.error() == why), which.error().message() << " from line " << where.line());
  }
  void is_empty() {
    wait([&] { return there() == 0; });
  }

  /// In all buckets.
  std::size_t callers_left() {
    std::size_t sum = 0;
    if (!exists(gate_path)) return sum;
    for (const auto& each : children(gate_path)) sum += children(std::string(gate_path) + '/' + each).size();
    return sum;
  }

  std::deque<session> sessions;
  std::deque<recorder<shared_gate_pass>> waiting;
};

}  // namespace zkrecipes::test

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace std::chrono_literals;

namespace {

struct crowded_gate : gate_callers {
  static constexpr int callers = 50;

  /// A caller that calls again when it was declined or is done, for as long as calls are left.
  struct caller {
    shared_gate gate;
    session zk;
    int begun = 0;  // the call that runs: its place among all calls
    shared_gate_pass pass{};
  };

  void call(caller& who) {
    if (calls == most_calls) {
      ++idle;
      return;
    }
    who.begun = ++calls;
    // Some keys come in a message that was delivered before: those are never declined.
    const auto how = who.begun % 16 == 0 ? arrival::redelivered : arrival::first;
    who.gate.async_enter("k", how, [this, &who, how](error_code error, shared_gate_pass pass) {
      if (error == errc::declined && how == arrival::first) {
        last_declined = std::max(last_declined, who.begun);
        ++declined;
        return call(who);
      }
      if (error) {
        ++failed;
        ++idle;
        return;
      }
      most_inside = std::max(most_inside, ++inside);
      ++processed;
      calls_before_last_processing = calls;
      tokens_grow = tokens_grow && pass.token() > last_token;
      last_token = pass.token();
      who.pass = std::move(pass);
      process(who);
    });
  }
  /// As long as a request, and then one of the ways to leave.
  void process(caller& who) {
    who.zk.async_exists("/", [this, &who](error_code, node_stat) {
      --inside;
      if (who.begun % 3 == 0) {
        who.pass = shared_gate_pass();
        return call(who);
      }
      if (who.begun % 3 == 1) {
        auto pass = std::make_shared<shared_gate_pass>(std::move(who.pass));
        pass->async_leave([this, &who, pass](error_code error) {
          failed += error ? 1 : 0;
          call(who);
        });
        return;
      }
      who.zk.async_commit(who.pass.leaving(transaction().set("/done", "")),
                          [this, &who](error_code error, const std::vector<operation_result>&) {
                            failed += error ? 1 : 0;
                            who.pass = shared_gate_pass();
                            call(who);
                          });
    });
  }

  int most_calls = 400;
  int calls = 0, idle = 0, inside = 0, most_inside = 0, processed = 0, declined = 0, failed = 0;
  int last_declined = 0, calls_before_last_processing = 0;
  std::int64_t last_token = 0;
  bool tokens_grow = true;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shared_gate_crowds, crowded_gate)

BOOST_AUTO_TEST_CASE(of_fifty_callers_at_once_one_processes_one_waits_and_the_others_are_declined) {
  for (int i = 0; i < 5; ++i) add();
  for (int i = 0; i < callers; ++i) enters(sessions[static_cast<std::size_t>(i % 5)], "k");
  const auto ended = [&] { return std::ranges::count_if(waiting, [](const auto& each) { return each.done(); }); };
  wait([&] { return ended() == callers - 1; });
  BOOST_TEST(there() == 2u);
  int in = 0;
  shared_gate_pass first;
  recorder<shared_gate_pass>* second = nullptr;
  for (auto& each : waiting) {
    if (!each.done()) second = &each;
    if (!each.done()) continue;
    if (each.error()) BOOST_TEST((each.error() == errc::declined), each.error().message());
    if (each.error()) continue;
    ++in;
    first = std::move(each.result<0>());
  }
  BOOST_TEST_REQUIRE(in == 1);
  BOOST_TEST(first.valid());
  first = shared_gate_pass();
  auto next = gets_in(*second);
  BOOST_TEST(there() == 1u);
  next = shared_gate_pass();
  is_empty();
}

BOOST_AUTO_TEST_CASE(fifty_that_call_again_and_again_process_one_at_a_time_and_behind_each_decline) {
  create("/done");
  for (int i = 0; i < 5; ++i) add();
  std::deque<caller> all;
  for (int i = 0; i < callers; ++i) {
    auto& by = sessions[static_cast<std::size_t>(i % 5)];
    all.push_back({shared_gate(by, gate_path, single()), by});
  }
  for (auto& each : all) call(each);
  wait([&] { return idle == callers; });
  BOOST_TEST_MESSAGE(calls << " calls: " << processed << " processed, " << declined << " declined");
  BOOST_TEST(failed == 0);
  BOOST_TEST(processed + declined == most_calls);
  BOOST_TEST(declined > processed);
  BOOST_TEST(most_inside == 1);
  BOOST_TEST(tokens_grow);
  BOOST_TEST(inside == 0);
  BOOST_TEST(calls_before_last_processing >= last_declined,
             "a processing began behind the last call that was declined");
  all.clear();
  is_empty();
  remove("/done");
}

BOOST_AUTO_TEST_CASE(ten_thousand_callers_of_other_keys_cost_no_request_more) {
  constexpr int others = 10'000;
  constexpr int at_once = 500;
  auto& one = add();
  auto& two = add();
  gets_in(enters(one, "k")) = shared_gate_pass();  // the bucket is there
  is_empty();
  for (int i = 0; i < others; i += at_once) {
    transaction some;
    for (int j = i; j < i + at_once; ++j) {
      auto number = std::to_string(j);
      number.insert(0, 32 - number.size(), '0');
      some.create(std::string(bucket) + "/_c_00000000-0000-4000-8000-000000000000-" + number + "-first-gate-", "",
                  create_mode::persistent_sequential);
    }
    BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_commit(std::move(some), tuple))));
  }
  std::size_t bytes = 0;
  for (const auto& each : children(bucket)) bytes += each.size() + 4;
  request_log seen;
  auto with = options();
  with.trace = seen.hook();
  auto& traced = add(connect(with));
  shared_gate gate(traced, gate_path, single());
  auto enter = [&]() -> recorder<shared_gate_pass>& {
    auto& entry = waiting.emplace_back(executor());
    seen.clear();
    gate.async_enter("k", arrival::first, entry.token());
    return entry;
  };
  settle(traced);
  auto pass = gets_in(enter());
  BOOST_TEST(seen.count("get") <= 2, "the node of the gate, and in the background our own");
  for (int round = 0; round < 3; ++round) {
    pass = shared_gate_pass();
    wait([&] { return there() == others; });
    settle(traced);
    pass = gets_in(enter());
    BOOST_TEST(seen.count("create") == 1);
    BOOST_TEST(seen.count("children") == 1);
    BOOST_TEST(seen.count("get") <= 1, "our own node, in the background");
    BOOST_TEST(seen.count("multi") + seen.count("exists") + seen.count("remove") == 0);
  }
  BOOST_TEST_MESSAGE("a list of " << others << " callers: " << bytes << " bytes");
  BOOST_TEST(bytes < 1024u * 1024u, "the limit of an answer by default (jute.maxbuffer)");
  auto& second = stands(two, "k");
  auto& third = enter();
  fails(third, errc::declined);
  BOOST_TEST(seen.count("create") == 1);
  BOOST_TEST(seen.count("children") == 1);
  BOOST_TEST(seen.count("multi") == 1);
  pass = shared_gate_pass();
  auto next = gets_in(second);
  next = shared_gate_pass();
  wait([&] { return there() == others; });
  BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children(bucket, tuple))));
}

BOOST_AUTO_TEST_CASE(another_number_of_buckets_is_refused) {
  auto& one = add();
  auto pass = gets_in(enters(one, "k"));
  BOOST_TEST(get(gate_path).data == R"({"zkrecipes":"shared_gate","buckets":1})");
  auto with = single();
  with.buckets = 2;
  diagnostic why;
  auto [error, none] = run(shared_gate(one, gate_path, with).async_enter("k", arrival::first, why, tuple));
  BOOST_TEST((error == errc::size_mismatch), error.message());
  for (const auto* part : {"/gate", "1 buckets", "with 2", "shared_gate_options::buckets"}) {
    BOOST_TEST(why.text().find(part) != std::string::npos, part << " in: " << why.text());
  }
  BOOST_TEST(children(gate_path).size() == 1u, "no other bucket was made");
  BOOST_TEST(there() == 1u);
  pass = shared_gate_pass();
  is_empty();
}

BOOST_AUTO_TEST_CASE(of_many_that_make_the_gate_at_once_with_two_numbers_only_those_of_one_get_in) {
  for (int i = 0; i < 4; ++i) add();
  std::deque<recorder<shared_gate_pass>> all;
  for (std::size_t i = 0; i < 8; ++i) {
    auto with = single();
    with.buckets = i % 2 == 0 ? 1 : 2;
    auto& entry = all.emplace_back(executor());
    shared_gate(sessions[i % 4], gate_path, with)
        .async_enter("key " + std::to_string(i), arrival::first, entry.token());
  }
  wait([&] { return std::ranges::all_of(all, [](const auto& each) { return each.done(); }); });
  std::set<std::size_t> in;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].error()) in.insert(i % 2);
    if (all[i].error()) BOOST_TEST((all[i].error() == errc::size_mismatch), all[i].error().message());
  }
  BOOST_TEST_REQUIRE(in.size() == 1u);
  const auto record = get(gate_path).data;
  BOOST_TEST(record == (*in.begin() == 0 ? R"({"zkrecipes":"shared_gate","buckets":1})"
                                         : R"({"zkrecipes":"shared_gate","buckets":2})"));
  all.clear();
}

BOOST_AUTO_TEST_CASE(data_of_others_at_the_path_is_never_overwritten) {
  create(gate_path, "not yours");
  auto& one = add();
  diagnostic why;
  auto [error, none] = run(shared_gate(one, gate_path, single()).async_enter("k", arrival::first, why, tuple));
  BOOST_TEST((error == errc::foreign_data), error.message());
  BOOST_TEST(why.text().find(gate_path) != std::string::npos);
  BOOST_TEST(get(gate_path).data == "not yours");
  BOOST_TEST(children(gate_path).empty());
}

BOOST_AUTO_TEST_SUITE_END()

// The node of a caller is removed, its session ends, and replies are lost, in each of its states.

namespace {

/// Three stand in a line: one processes, one waits, and a redelivered message waits behind it.
struct gate_line : gate_callers {
  void teardown() {
    pass = shared_gate_pass();
    gate_callers::teardown();
  }
  void form() {
    for (int i = 0; i < 3; ++i) add();
    pass = gets_in(enters(sessions[0], "k"));
    second = &stands(sessions[1], "k");
    third = &stands(sessions[2], "k", arrival::redelivered);
    wait([&] { return there() == 3; });
    for (auto& each : sessions) settle(each);
  }
  void take_away(std::size_t place) { remove(std::string(bucket) + '/' + line()[place]); }
  void expire(std::size_t which) { cluster().expire(sessions[which].status().session_id); }
  void is_lost(shared_gate_pass& which, errc why) {
    wait([&] { return static_cast<bool>(which.error()); });
    BOOST_TEST((which.error() == why), which.error().message());
    BOOST_TEST(!which.valid());
  }
  /// The nodes of a session go together, but are told one after the other. The caller fails; or, if it is told of the
  /// node ahead first, it has a pass that is lost.
  void gets_in_for_nothing(recorder<shared_gate_pass>& which, errc why) {
    wait([&] { return which.done(); });
    if (which.error()) return fails(which, why);
    wait([&] { return static_cast<bool>(which.result<0>().error()); });
    const auto error = which.result<0>().error();
    BOOST_TEST((error == why || error == errc::node_removed), error.message());
  }
  /// Gets in and leaves, and the gate is empty.
  void goes_last(recorder<shared_gate_pass>& which, std::source_location where = std::source_location::current()) {
    gets_in(which, where) = shared_gate_pass();
    is_empty();
  }
  /// What rides in the end of a lost pass is not done.
  void commits_nothing(session& by, const shared_gate_pass& lost) {
    const auto all = lost.leaving(transaction().create("/effect"));
    BOOST_TEST((std::get<0>(run(by.async_commit(all, tuple))) == errc::no_node));
    BOOST_TEST(!exists("/effect"));
  }

  shared_gate_pass pass;
  recorder<shared_gate_pass>* second = nullptr;
  recorder<shared_gate_pass>* third = nullptr;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shared_gate_losses, gate_line)

BOOST_AUTO_TEST_CASE(the_node_of_the_one_that_processes_is_removed) {
  form();
  take_away(0);
  is_lost(pass, errc::node_removed);
  auto next = gets_in(*second);
  commits_nothing(sessions[0], pass);
  BOOST_TEST(!third->done());
  next = shared_gate_pass();
  goes_last(*third);
}

BOOST_AUTO_TEST_CASE(the_node_of_the_one_that_waits_is_removed) {
  form();
  take_away(1);
  fails(*second, errc::node_removed);
  for (auto& each : sessions) settle(each);
  BOOST_TEST(!third->done(), "the one that it waits for has gone, and another one is ahead");
  BOOST_TEST(pass.valid());
  pass = shared_gate_pass();
  goes_last(*third);
}

BOOST_AUTO_TEST_CASE(the_node_of_a_redelivered_message_that_waits_is_removed) {
  form();
  take_away(2);
  fails(*third, errc::node_removed);
  BOOST_TEST(!second->done());
  pass = shared_gate_pass();
  goes_last(*second);
}

BOOST_AUTO_TEST_CASE(the_session_of_the_one_that_processes_ends) {
  form();
  expire(0);
  is_lost(pass, errc::session_expired);
  auto next = gets_in(*second);
  wait([&] { return sessions[0].status().state == session_state::connected; });
  commits_nothing(sessions[0], pass);
  BOOST_TEST(!third->done());
  next = shared_gate_pass();
  goes_last(*third);
}

BOOST_AUTO_TEST_CASE(the_session_of_the_one_that_waits_ends) {
  form();
  expire(1);
  fails(*second, errc::session_expired);
  for (auto& each : sessions) settle(each);
  BOOST_TEST(!third->done(), "the one that it waits for has gone, and another one is ahead");
  auto& again = stands(sessions[1], "k", arrival::redelivered);
  pass = shared_gate_pass();
  auto next = gets_in(*third);
  next = shared_gate_pass();
  goes_last(again);
}

BOOST_AUTO_TEST_CASE(a_session_with_callers_in_all_states_ends) {
  auto& one = add();
  auto& two = add();
  pass = gets_in(enters(one, "k"));
  second = &stands(one, "k");
  third = &stands(one, "k", arrival::redelivered);
  auto& behind = stands(two, "k", arrival::redelivered);
  settle(one);
  expire(0);
  is_lost(pass, errc::session_expired);
  gets_in_for_nothing(*second, errc::session_expired);
  gets_in_for_nothing(*third, errc::session_expired);
  auto next = gets_in(behind);
  BOOST_TEST(there() == 1u);
  next = shared_gate_pass();
  is_empty();
}

BOOST_AUTO_TEST_CASE(the_reply_of_a_create_is_lost_while_another_one_processes) {
  auto& one = add();
  pass = gets_in(enters(one, "k"));
  auto& far = add(connect_far());
  own().drop_reply(testcluster::op::create2);
  auto& entry = enters(far, "k");
  wait([&] { return own().drops() == 1; });
  wait([&] { return there() == 2 && line()[1].find("-again-gate-") != std::string::npos; });
  BOOST_TEST(!entry.done(), "it is not declined in favour of the node that it has left");
  pass = shared_gate_pass();
  auto next = gets_in(entry);
  BOOST_TEST(std::string(bucket) + '/' + line()[0] == next.path());
  BOOST_TEST(there() == 1u);
  next = shared_gate_pass();
  is_empty();
}

BOOST_AUTO_TEST_CASE(the_reply_of_a_create_is_lost_while_one_processes_and_one_waits) {
  auto& one = add();
  pass = gets_in(enters(one, "k"));
  auto& waits = stands(one, "k");
  auto& far = add(connect_far());
  own().drop_reply(testcluster::op::create2);
  auto& entry = enters(far, "k");
  wait([&] { return own().drops() == 1; });
  wait([&] { return there() == 3 && line()[2].find("-again-gate-") != std::string::npos; });
  BOOST_TEST(!entry.done());
  pass = shared_gate_pass();
  auto next = gets_in(waits);
  BOOST_TEST(!entry.done());
  next = shared_gate_pass();
  goes_last(entry);
}

BOOST_AUTO_TEST_CASE(the_reply_of_the_create_of_the_gate_itself_is_lost) {
  auto& far = add(connect_far());
  own().drop_reply(testcluster::op::create2);
  auto entered = gets_in(enters(far, "k"));
  BOOST_TEST(own().drops() == 1u);
  BOOST_TEST(get(gate_path).data == R"({"zkrecipes":"shared_gate","buckets":1})");
  BOOST_TEST(there() == 1u);
  entered = shared_gate_pass();
  is_empty();
}

BOOST_AUTO_TEST_SUITE_END()
