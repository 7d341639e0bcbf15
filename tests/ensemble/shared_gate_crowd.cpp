// Many callers of one key at once, many callers of other keys, and the number of buckets.
#include <algorithm>
#include <deque>
#include <memory>
#include <set>

#include "ensemble/gate_callers.hpp"
#include "ensemble/request_log.hpp"

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
