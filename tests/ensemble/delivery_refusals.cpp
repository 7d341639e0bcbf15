// What a consumer does where a message can not be counted, parked or cancelled, and with names that it finds in the
// record of the term.
#include <algorithm>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <zkrecipes/consumer/shard_group.hpp>

#include "election/term_record.hpp"
#include "ensemble/delivery_case.hpp"
#include "ensemble/topic_case.hpp"
#include "notes/consumer_notes.hpp"
#include "support/bound_judge.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

const acl all_but_write{{perm_read | perm_create | perm_delete | perm_admin, "world", "anyone"}};
const acl all_but_create{{perm_read | perm_write | perm_delete | perm_admin, "world", "anyone"}};
const acl all_rights{{perm_all, "world", "anyone"}};

class refusals : public deliveries {
 public:
  session impatient() {
    auto with = fixture::options();
    with.retry.first_pause = with.retry.max_pause = 5ms;
    return connect(with);
  }
  running_consumer& consume_impatiently(processor does) {
    return all.emplace_back(impatient(), options, career_traits(), std::move(does));
  }
  /// As a term leaves the record whose process has died with these messages in hand, once the next term has retired.
  void leave_suspects(const std::vector<std::string>& names, std::int32_t crashes = 0) {
    detail::term_record record;
    record.epoch = 1;
    record.phase = term_phase::retired;
    record.leader_id = "before";
    record.leader_node = "_c_1-latch-0000000001";
    record.leader_token = 1;
    detail::consumer_notes notes;
    notes.in_hand = names;
    notes.crashes = crashes;
    record.notes = detail::to_json(notes);
    auto written = run(zk().async_set("/e", detail::serialize(record), any_version, tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(written));
  }
  std::vector<std::string> named() {
    const auto record = detail::parse_record(get("/e").data);
    return record ? detail::read_notes(record->notes).in_hand : std::vector<std::string>();
  }
  std::int32_t crashes() {
    const auto record = detail::parse_record(get("/e").data);
    return record ? detail::read_notes(record->notes).crashes : -1;
  }
  std::string letter_reason() {
    const auto letters = dead_letters(over(zk()));
    BOOST_TEST_REQUIRE(letters.size() == 1u);
    return letters[0].reason;
  }
};

asio::awaitable<message_outcome> fail_at_one(term, const message& item) {
  if (item.data == "1") throw std::runtime_error("no");
  co_return effect_of(item);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(delivery_refusals, refusals)

BOOST_AUTO_TEST_CASE(a_call_that_blocks_its_thread_counts_a_failed_attempt) {
  put_all({"blocks", "1"});
  asio::thread_pool pool(2);   // with one thread it would block its session, too
  std::promise<void> release;  // if it is destroyed early, the call ends, too
  const auto released = release.get_future().share();
  session zk_of_blocked(pool.get_executor(), fixture::options());
  acting_consumer blocked(over(zk_of_blocked), options, {.hand_over_deadline = 2s, .stall_limit = 300ms},
                          [&](term, message) -> asio::awaitable<message_outcome> {
                            const auto executor = co_await asio::this_coro::executor;
                            co_await asio::post(executor, asio::use_awaitable);
                            released.wait();
                            co_return message_outcome::done();
                          });
  consumer_coordinator coordinator(zk_of_blocked, "/e", {.id = "blocked"});
  auto ended = coordinator.async_run(blocked, asio::use_future);
  BOOST_TEST_REQUIRE(run_until([&] { return blocked.status().in_hand == 1; }));
  auto& next = consume(&succeed);
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(results() == std::vector<std::string>({"blocks", "1"}), boost::test_tools::per_element());
  BOOST_TEST(next.does.attempts["blocks"] == std::vector<std::int32_t>({2}), boost::test_tools::per_element());
  coordinator.stop();
  release.set_value();
  ended.get();
  zk_of_blocked.async_close(asio::use_future).get();
  pool.join();
}

BOOST_AUTO_TEST_CASE(a_message_whose_attempt_can_not_be_counted_is_parked_all_the_same) {
  for (const auto order : {message_order::strict, message_order::none}) {
    options.order = order;
    options.retry.attempts = 2;
    const auto name = put("1");
    put("2");
    forbid_writing("/q/" + name, all_but_write);
    auto& who = consume_impatiently(&fail_at_one);
    BOOST_TEST_REQUIRE(is_done());
    BOOST_TEST(who.does.attempts["1"] == std::vector<std::int32_t>({1, 2}), boost::test_tools::per_element());
    BOOST_TEST(letter_reason() == "no");
    BOOST_TEST(!std::get<0>(run(over(zk()).async_discard(dead_letters(over(zk()))[0], tuple))));
    end_runs(all);
  }
  BOOST_TEST(results() == std::vector<std::string>({"2", "2"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_suspect_whose_attempt_can_not_be_counted_is_tried_again) {
  const auto name = put("1");
  forbid_writing("/q/" + name, all_but_write);
  leave_suspects({name});
  auto& who = consume_impatiently(&succeed);
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(who.does.attempts["1"] == std::vector<std::int32_t>({2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_is_behind_a_message_that_can_not_be_parked_stays_behind) {
  options.window = 4;
  put_all({"1", "2"});
  forbid_creating("/q", all_but_create);
  auto& who = consume_impatiently([](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "1" && item.attempts < 3) co_return message_outcome::park("never");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(results() == std::vector<std::string>({"1", "2"}), boost::test_tools::per_element());
  BOOST_TEST(who.does.status().refused == 2u);
  run(zk().async_set_acl("/q", all_rights, any_version, tuple));
}

BOOST_AUTO_TEST_CASE(a_letter_that_would_be_too_long_goes_without_its_reason) {
  options.retry.attempts = 1;
  create("/q");
  create("/q/qn-0000000000", std::string(1'047'300, 'x'));
  consume([](term, message) -> asio::awaitable<message_outcome> { throw std::runtime_error(std::string(1000, 'r')); });
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(letter_reason() == "");
}

BOOST_AUTO_TEST_CASE(a_spent_suspect_ends_one_run_and_the_next_one_tries_it) {
  options.retry.attempts = 1;
  options.spent = spent_message::stop_the_run;
  leave_suspects({put("1")});
  running_consumer first(connect(), options, {}, &succeed);
  BOOST_TEST_REQUIRE(ends_with(first.ended, errc::career_failed));
  BOOST_TEST(first.does.attempts["1"].empty());
  BOOST_TEST(named().empty());
  auto& next = consume(&succeed);
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(next.does.attempts["1"] == std::vector<std::int32_t>({1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_suspect_that_the_term_did_not_get_to_is_left_to_the_next) {
  put("1");
  const auto name = put("2");
  leave_suspects({name});
  hold_point hold(executor());
  auto& who = consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "1") co_await hold.pass();
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return hold.is_reached(); }));
  who.coordinator.stop();
  hold.open();
  BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }));
  BOOST_TEST(results() == std::vector<std::string>({"1"}), boost::test_tools::per_element());
  BOOST_TEST(named() == std::vector<std::string>({name}), boost::test_tools::per_element());
  auto& next = consume(&succeed);
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(next.does.attempts["2"] == std::vector<std::int32_t>({2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_suspect_that_has_gone_is_forgotten) {
  leave_suspects({"qn-0000000099"});
  auto& who = consume(&succeed);
  put("1");
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(run_until([&] { return named().empty(); }));
  BOOST_TEST(who.does.status().again == 0u);
}

BOOST_AUTO_TEST_CASE(crashes_are_forgotten_by_a_term_that_has_settled_a_message_and_ends_cleanly) {
  leave_suspects({}, 2);
  auto& idle = consume(&succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return idle.coordinator.status().phase == coordinator_phase::executing; }));
  end_runs(all);
  BOOST_TEST(crashes() == 2);
  put("1");
  consume(&succeed);
  BOOST_TEST_REQUIRE(is_done());
  end_runs(all);
  BOOST_TEST(crashes() == 0);
}

BOOST_AUTO_TEST_SUITE_END()

// The limit of a consumer over hand-overs between two replicas.
namespace {

class limited_deliveries : public deliveries {
 public:
  limited_deliveries() { hold.emplace(executor()); }
  void teardown() {
    hold->open();
    end_runs(all);
    hold.reset();
    while (size() > 0) pop(over(zk()));
    deliveries::teardown();
  }

  /// A second replica stands in line when this returns.
  void consume_by_two(message_limit limit, const processor& does, career_traits traits = {}) {
    options.limit = limit;
    options.window = 4;
    consume(does, traits);
    BOOST_TEST_REQUIRE(run_until([&] { return phase_of(0) == coordinator_phase::executing; }));
    consume(does, traits);
    BOOST_TEST_REQUIRE(run_until([&] { return all[1].coordinator.status().ahead == 1u; }));
  }
  coordinator_phase phase_of(std::size_t which) const { return all[which].coordinator.status().phase; }
  queue_consumer_status status_of_second() const { return all[1].does.status(); }
  /// How the present term has taken over.
  bool took_over(const std::string& how) {
    settle(zk());
    return get("/e").data.find(R"("how":")" + how) != std::string::npos;
  }
  void wait_results(const std::vector<std::string>& expected) {
    run_until([&] { return results().size() >= expected.size(); });
    BOOST_TEST(results() == expected, boost::test_tools::per_element());
  }

  std::optional<hold_point> hold;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(delivery_limited, limited_deliveries)

BOOST_AUTO_TEST_CASE(a_clean_hand_over_passes_on_what_is_left) {
  consume_by_two({.rate = 1, .per = 1h, .burst = 3}, &succeed);
  put("1");
  wait_results(numbers(1, 1));
  all[0].coordinator.resign();
  BOOST_TEST_REQUIRE(run_until([&] { return phase_of(1) == coordinator_phase::executing; }));
  put_all(numbers(2, 4));
  BOOST_TEST_REQUIRE(run_until([&] { return status_of_second().done == 2 && status_of_second().limited == 1; }));
  BOOST_TEST(took_over("clean"));
  wait_results(numbers(1, 3));
}

BOOST_AUTO_TEST_CASE(a_message_that_waits_does_not_delay_the_hand_over) {
  consume_by_two({.rate = 1, .per = 1h}, &succeed);
  put_all(numbers(1, 2));
  BOOST_TEST_REQUIRE(run_until([&] { return all[0].does.status().limited == 1; }));
  all[0].coordinator.resign();
  BOOST_TEST_REQUIRE(run_until([&] { return status_of_second().limited == 1; }));
  BOOST_TEST(took_over("clean"));
  BOOST_TEST(!all[0].does.attempts.contains("2"));
  BOOST_TEST(all[1].does.attempts.empty());
  BOOST_TEST(results() == numbers(1, 1), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_forced_term_begins_without_credit) {
  auto waits = [this](term, message item) -> asio::awaitable<message_outcome> {
    co_await hold->pass_in_the_end();
    co_return effect_of(item);
  };
  consume_by_two({.rate = 1, .per = 1h, .burst = 3}, waits, {.hand_over_deadline = 0ms});
  put("1");
  BOOST_TEST_REQUIRE(run_until([&] { return hold->is_reached(); }));
  cluster().expire(all[0].zk.status().session_id);
  BOOST_TEST_REQUIRE(run_until([&] { return status_of_second().limited == 1; }));
  BOOST_TEST(took_over("forced"));
  BOOST_TEST(all[1].does.attempts.empty());
}

BOOST_AUTO_TEST_CASE(a_hold_off_of_a_call_in_hand_reaches_the_next_in_line) {
  auto asks_for_a_pause = [this](term, message) -> asio::awaitable<message_outcome> {
    co_await hold->pass();
    co_return message_outcome::hold_off(1h, "busy");
  };
  consume_by_two({.rate = 1, .per = 1ms, .burst = 10}, asks_for_a_pause, {.hand_over_deadline = 20s});
  put("1");
  BOOST_TEST_REQUIRE(run_until([&] { return hold->is_reached(); }));
  all[0].coordinator.resign();
  BOOST_TEST_REQUIRE(run_until([&] { return get("/e").data.find("handing_over") != std::string::npos; }));
  hold->open();
  BOOST_TEST_REQUIRE(run_until([&] { return status_of_second().limited == 1; }));
  settle(zk());
  BOOST_TEST(took_over("clean"));
  BOOST_TEST(status_of_second().limited == 1u);
  BOOST_TEST(all[1].does.attempts.empty());
}

/// A call can run later than its message is begun. As one call runs at a time, that exceeds the bound by one.
BOOST_AUTO_TEST_CASE(calls_keep_to_the_limit_over_many_terms) {
  constexpr std::int64_t burst = 3;
  bound_judge judge(1, 10ms, burst + 1);
  bool keeps_to_it = true;
  auto counts = [&](term, message item) -> asio::awaitable<message_outcome> {
    keeps_to_it = keeps_to_it && judge.add(lease_clock::now(), 1);
    co_return effect_of(item);
  };
  consume_by_two({.rate = 1, .per = 10ms, .burst = burst}, counts);
  put_all(numbers(1, 60));
  for (std::size_t done = 10; done <= 50; done += 10) {
    BOOST_TEST_REQUIRE(run_until([&] { return all[0].does.status().done + all[1].does.status().done >= done; }));
    for (auto& each : all) each.coordinator.resign();
  }
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(results() == numbers(1, 60), boost::test_tools::per_element());
  BOOST_TEST(keeps_to_it);
  BOOST_TEST(all[0].coordinator.status().epoch >= 3);
}

BOOST_AUTO_TEST_SUITE_END()

// Repeats of a producer over ends of terms: of a queue, and of a topic in a shard group.
namespace {

/// "a3" is the number 3 of the producer "a".
std::optional<message_origin> origin_of(const message& item) {
  return message_origin{item.data.substr(0, 1), std::stoull(item.data.substr(1))};
}

/// The numbers of these producers from `first` to `last`, in order.
std::vector<std::string> numbered(const std::string& producers, int first, int last) {
  std::vector<std::string> all;
  for (int number = first; number <= last; ++number) {
    for (const char each : producers) all.push_back(each + std::to_string(number));
  }
  return all;
}

/// Each message is followed by a repeat of the one some places before it.
std::vector<std::string> with_repeats(const std::vector<std::string>& data) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < data.size(); ++i) {
    all.push_back(data[i]);
    all.push_back(data[i - std::min<std::size_t>(i, i % 7)]);
  }
  return all;
}

struct repeated_deliveries : deliveries {
  repeated_deliveries() { options.repeats = message_repeats{.origin = &origin_of}; }
};

/// Two members of a group share the shards of a topic.
struct repeated_topics : topics {
  repeated_topics() {
    with.shards = 2;
    options.order = message_order::by_key;
    options.parallel = 8;
    options.repeats = message_repeats{.origin = &origin_of};
  }
  void teardown() {
    for (auto& each : members) each.group.stop();
    run_until([&] { return std::ranges::all_of(members, [](const auto& each) { return each.ended.done(); }); }, 10s);
    members.clear();
    if (exists("/sg")) BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children("/sg", tuple))));
    topics::teardown();
  }

  struct member {
    member(repeated_topics& of, std::string id)
        : zk(of.connect()),
          group(zk, "/sg", {.id = std::move(id), .shards = 2, .collect = 50ms}),
          ended(zk.get_executor()) {
      auto make = [this, &of](const shard& which) -> std::unique_ptr<leader_career> {
        return std::make_unique<acting_consumer>(of.over(zk).feed(which.number, "g"), of.options, career_traits(),
                                                 &succeed);
      };
      group.async_run(make, ended.token());
    }
    session zk;
    shard_group group;
    recorder<> ended;
  };
  /// The key of a message is its producer, so each producer has one shard.
  void put_all_of(const std::vector<std::string>& data) {
    std::vector<std::string> keys;
    for (const auto& each : data) keys.push_back(each.substr(0, 1));
    put_with_keys(keys, data);
  }
  static bool is_executing(const member& which) {
    const auto status = which.group.status();
    return std::ranges::any_of(status.shards,
                               [](const shard_status& each) { return each.phase == coordinator_phase::executing; });
  }
  bool is_all_consumed() {
    return run_until(
        [&] { return std::ranges::all_of(lag(), [](const source_lag& each) { return each.messages == 0; }); }, 30s);
  }
  std::vector<std::string> sorted_results() {
    auto all = results();
    std::ranges::sort(all);
    return all;
  }

  std::deque<member> members;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(delivery_repeats_of_a_queue, repeated_deliveries)

BOOST_AUTO_TEST_CASE(each_number_has_its_effect_once_and_in_order_though_leaders_expire) {
  options.window = 8;
  const auto wanted = numbered("ab", 1, 60);
  put_all(with_repeats(wanted));
  const career_traits at_once{.hand_over_deadline = 0ms};
  consume(&succeed, at_once);
  consume(&succeed, at_once);
  for (std::size_t done = 20; done <= 100; done += 20) {
    BOOST_TEST_REQUIRE(run_until([&] { return children("/results").size() >= done; }, 30s));
    for (auto& each : all) {
      if (each.coordinator.status().phase == coordinator_phase::executing) {
        cluster().expire(each.zk.status().session_id);
      }
    }
  }
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(results() == wanted, boost::test_tools::per_element());
  put_all(wanted);
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(results() == wanted, boost::test_tools::per_element());
  BOOST_TEST(get("/q/_repeats").data == R"({"zkrecipes":"producer_marks","producers":["1-60 a","1-60 b"]})");
}

BOOST_AUTO_TEST_CASE(replies_that_are_lost_process_no_number_twice) {
  options.window = 4;
  const auto wanted = numbered("a", 1, 40);
  put_all(with_repeats(wanted));
  all.emplace_back(connect_far(), options, career_traits(), &succeed);
  for (std::size_t done = 5; done <= 35; done += 10) {
    BOOST_TEST_REQUIRE(run_until([&] { return children("/results").size() >= done; }, 30s));
    own().drop_reply(testcluster::op::multi);
  }
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(results() == wanted, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_revived_dead_letter_is_processed_although_later_numbers_were) {
  options.retry.attempts = 1;
  bool is_cured = false;
  put_all({"a1", "a2", "a3", "a2"});
  auto& who = consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "a2" && !is_cured) throw std::runtime_error("not yet");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(is_done());
  const auto letters = dead_letters(over(zk()));
  BOOST_TEST_REQUIRE(letters.size() == 2u);
  is_cured = true;
  for (const auto& each : letters) BOOST_TEST(!std::get<0>(run(over(zk()).async_revive(each, tuple))));
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(results() == std::vector<std::string>({"a1", "a3", "a2"}), boost::test_tools::per_element());
  BOOST_TEST(run_until([&] { return who.does.status().repeated == 1; }));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(delivery_repeats_of_a_topic, repeated_topics)

BOOST_AUTO_TEST_CASE(the_marks_of_a_shard_move_with_it) {
  const std::string producers = "abcdefgh";
  put_all_of(with_repeats(numbered(producers, 1, 10)));
  members.emplace_back(*this, "one");
  BOOST_TEST_REQUIRE(is_all_consumed());
  members.emplace_back(*this, "two");
  BOOST_TEST_REQUIRE(run_until([&] { return is_executing(members[1]); }, 30s));
  put_all_of(with_repeats(numbered(producers, 8, 20)));
  members[0].group.stop();
  BOOST_TEST_REQUIRE(is_all_consumed());
  put_all_of(numbered(producers, 1, 20));
  BOOST_TEST_REQUIRE(is_all_consumed());
  auto wanted = numbered(producers, 1, 20);
  std::ranges::sort(wanted);
  BOOST_TEST(sorted_results() == wanted, boost::test_tools::per_element());
  for (const auto* each : {"/t/0000/_repeats/g", "/t/0001/_repeats/g"}) {
    BOOST_TEST(get(each).data.find("\"1-20 ") != std::string::npos, get(each).data);
  }
}

BOOST_AUTO_TEST_SUITE_END()
