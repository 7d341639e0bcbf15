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
