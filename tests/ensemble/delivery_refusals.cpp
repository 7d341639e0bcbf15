// What a consumer does where a message can not be counted, parked or cancelled, and with names that it finds in the
// record of the term.
#include <future>
#include <optional>

#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include "election/term_record.hpp"
#include "ensemble/delivery_case.hpp"
#include "notes/consumer_notes.hpp"

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
    must(run(zk().async_set("/e", detail::serialize(record), any_version, tuple)));
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
  BOOST_TEST_REQUIRE(run_until([&] { return first.ended.done(); }));
  BOOST_TEST(first.ended.error() == errc::career_failed);
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

// Each end of a term finds one message in work, one finished, and one that rests: docs/hand-over.md, "the messages in
// hand".

namespace {

using ending = std::function<asio::awaitable<void>()>;

class endings : public deliveries {
 public:
  endings() {
    hold.emplace(executor());
    options.order = message_order::none;
    options.window = options.parallel = 8;
    options.retry = {.first = 1h, .longest = 1h, .attempts = 3};
  }

  void teardown() {
    hold->open();
    end_runs(all);
    hold.reset();
    deliveries::teardown();
  }

  /// `end` is called with one message in work and one at rest, by the call of `process` that finishes the third.
  running_consumer& begin(career_traits traits, ending end) {
    end_ = std::move(end);
    put_all({"rests", "works"});
    auto& who = consume([this](term, message item) { return process(std::move(item)); }, traits);
    BOOST_TEST_REQUIRE(run_until([&] { return hold->is_reached() && who.does.status().resting == 1; }));
    put("finishes");
    return who;
  }
  running_consumer& begin(ending end) { return begin({.hand_over_deadline = 20s}, std::move(end)); }

  std::vector<std::string> sorted_results() {
    auto all = results();
    std::sort(all.begin(), all.end());
    return all;
  }
  void wait_result(const std::string& data) {
    BOOST_TEST_REQUIRE(run_until([&] {
      const auto all = results();
      return std::find(all.begin(), all.end(), data) != all.end();
    }));
  }
  void wait_ends(const running_consumer& who, std::size_t count = 1) {
    BOOST_TEST_REQUIRE(run_until([&] { return who.does.ends.size() == count; }));
  }
  /// All messages are done, each once in effect, and these attempts were told.
  void expect(running_consumer& who, const std::vector<std::int32_t>& works, const std::vector<std::int32_t>& finishes,
              const std::vector<std::int32_t>& rests) {
    BOOST_TEST_REQUIRE(is_done());
    BOOST_TEST(sorted_results() == std::vector<std::string>({"finishes", "rests", "works"}),
               boost::test_tools::per_element());
    BOOST_TEST(who.does.attempts["works"] == works, boost::test_tools::per_element());
    BOOST_TEST(who.does.attempts["finishes"] == finishes, boost::test_tools::per_element());
    BOOST_TEST(who.does.attempts["rests"] == rests, boost::test_tools::per_element());
  }

  std::optional<hold_point> hold;

 private:
  asio::awaitable<message_outcome> process(message item) {
    const bool is_first = begun_[item.data]++ == 0;
    if (is_first && item.data == "rests") co_return message_outcome::again("no");
    if (is_first && item.data == "works") co_await hold->pass();
    if (is_first && item.data == "finishes") co_await end_();
    co_return effect_of(item);
  }

  ending end_;
  std::map<std::string, int> begun_;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(delivery_endings, endings)

BOOST_AUTO_TEST_CASE(who_resigns_finishes_what_is_in_hand) {
  auto& who = begin([this]() -> asio::awaitable<void> {
    all[0].coordinator.resign();
    co_return;
  });
  wait_result("finishes");
  BOOST_TEST(results().size() == 1u);
  BOOST_TEST(who.does.ends.empty());
  hold->open();
  expect(who, {1}, {1}, {1, 2});
  BOOST_TEST((who.does.ends[0] == term_end::resigned));
}

BOOST_AUTO_TEST_CASE(a_call_is_cut_and_made_again_if_the_career_wants_that) {
  auto& who = begin({.hand_over_deadline = 20s, .finish_message_in_hand = false}, [this]() -> asio::awaitable<void> {
    all[0].coordinator.resign();
    co_return;
  });
  expect(who, {1, 1}, {1}, {1, 2});
  BOOST_TEST(hold->was_cut());
}

BOOST_AUTO_TEST_CASE(a_stop_that_is_cut_short_leaves_the_calls_to_the_successor) {
  auto& who = begin([this]() -> asio::awaitable<void> {
    all[0].ended.cancel(asio::cancellation_type::terminal);
    co_return;
  });
  BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }));
  BOOST_TEST(hold->was_cut());
  BOOST_TEST(results() == std::vector<std::string>({"finishes"}), boost::test_tools::per_element());
  auto& next = consume([](term, message item) -> asio::awaitable<message_outcome> { co_return effect_of(item); });
  expect(next, {1}, {}, {2});
}

BOOST_AUTO_TEST_CASE(who_has_lost_its_place_still_finishes_what_is_in_hand) {
  auto& who = begin([this]() -> asio::awaitable<void> {
    auto line = co_await zk().async_children("/e", asio::use_awaitable);
    const auto node = "/e/" + line.names.at(0);
    co_await zk().async_remove(node, any_version, asio::use_awaitable);
  });
  wait_result("finishes");
  hold->open();
  expect(who, {1}, {1}, {1, 2});
  BOOST_TEST((who.does.ends[0] == term_end::lost));
}

BOOST_AUTO_TEST_CASE(who_has_lost_its_session_finishes_what_is_in_hand_in_the_next_one) {
  auto& who = begin([this]() -> asio::awaitable<void> {
    cluster().expire(all[0].zk.status().session_id);
    co_return;
  });
  wait_result("finishes");
  hold->open();
  expect(who, {1}, {1}, {1, 2});
  BOOST_TEST((who.does.ends[0] == term_end::lost));
}

BOOST_AUTO_TEST_CASE(a_stall_counts_an_attempt_of_the_message_that_hangs) {
  auto& who = begin({.hand_over_deadline = 20s, .stall_limit = 500ms}, []() -> asio::awaitable<void> { co_return; });
  expect(who, {1, 2}, {1}, {1, 2});
  BOOST_TEST(hold->was_cut());
  BOOST_TEST((who.does.ends[0] == term_end::stalled));
}

BOOST_AUTO_TEST_CASE(nothing_is_committed_beside_a_newer_term) {
  auto& who = begin([this]() -> asio::awaitable<void> {
    auto record = co_await zk().async_get("/e", asio::use_awaitable);
    auto newer = record.data;
    newer.replace(newer.find(R"("epoch":1)"), 9, R"("epoch":2)");
    co_await zk().async_set("/e", newer, any_version, asio::use_awaitable);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().commits > 0 && hold->was_cut(); }));
  BOOST_TEST(results().empty());
  wait_ends(who);
  BOOST_TEST((who.does.ends[0] == term_end::superseded));
  run(zk().async_set("/e", "", any_version, tuple));  // the newer term, which nobody leads, is over
  expect(who, {1, 1}, {1, 1}, {1, 2});
}

BOOST_AUTO_TEST_SUITE_END()
