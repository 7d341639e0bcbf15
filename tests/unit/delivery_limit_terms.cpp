// The limit of a consumer's calls across terms: the level that a clean hand-over passes on, and a forced one does not.
#include <optional>
#include <string>

#include <boost/test/unit_test.hpp>

#include "election/term_record.hpp"
#include "notes/consumer_notes.hpp"
#include "unit/delivering.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct limited_term : delivering {
  void consume_at(std::chrono::milliseconds per, std::uint64_t burst) {
    queue_consumer_options options;
    options.order = message_order::none;
    options.window = options.parallel = 16;
    options.limit = message_limit{.rate = 1, .per = per, .burst = burst};
    consume(std::move(options));
  }
  /// The record that a predecessor has left. `notes`: more fields of its consumer's notes.
  static std::string left_record(const std::string& phase, const std::string& notes) {
    return R"({"zkrecipes":"term","epoch":7,"phase":")" + phase +
           R"(","how":"clean","hand_over_deadline_ms":0,"leader":{"id":"a","node":"n","token":5},)" +
           R"("consumer":{"epoch":7,"crashes":0)" + notes + "}}";
  }
};

/// A consumer with 100 ms for each call and a burst of 3, behind this record if somebody has written one.
struct limited_successor : limited_term {
  explicit limited_successor(const std::optional<std::string>& record) {
    if (record) write_record(*record);
    consume_at(100ms, 3);
    consumer->is_held = false;
    put({"1", "2", "3", "4"});
  }
  std::size_t begun() const { return consumer->begun.size(); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(delivery_limit_terms, limited_term)

BOOST_AUTO_TEST_CASE(the_next_term_goes_on_with_what_is_left) {
  consume_at(1s, 2);
  consumer->is_held = false;
  put({"1", "2", "3"});
  pass(400ms);
  coordinator->resign();
  serve_all();
  BOOST_TEST(coordinator->status().epoch == 2);
  CHECK_LIST(consumer->begun, "1", "2");
  pass(599ms);
  CHECK_LIST(consumer->begun, "1", "2");
  pass(1ms);
  CHECK_LIST(consumer->begun, "1", "2", "3");
}

BOOST_AUTO_TEST_CASE(a_term_that_begins_nothing_passes_on_what_it_got) {
  consume_at(1s, 1);
  consumer->is_held = false;
  put({"1", "2"});
  for (int terms = 2; terms <= 5; ++terms) {
    pass(100ms);
    coordinator->resign();
    serve_all();
    BOOST_TEST(coordinator->status().epoch == terms);
  }
  CHECK_LIST(consumer->begun, "1");
  pass(599ms);
  CHECK_LIST(consumer->begun, "1");
  pass(1ms);
  CHECK_LIST(consumer->begun, "1", "2");
}

BOOST_AUTO_TEST_CASE(a_hold_off_that_a_call_asks_for_in_the_hand_over_reaches_the_next_term) {
  consume_at(1ms, 10);
  put({"1", "2"});
  let_go("2");
  coordinator->resign();
  serve_all();
  BOOST_TEST(coordinator->status().epoch == 1);
  let_go("1", message_outcome::hold_off(500ms, "busy"));
  BOOST_TEST(coordinator->status().epoch == 2);
  pass(499ms);
  CHECK_LIST(consumer->begun, "1", "2");
  pass(1ms);
  CHECK_LIST(consumer->begun, "1", "2", "1");
  BOOST_TEST(consumer->attempts.back() == 1);
}

BOOST_AUTO_TEST_CASE(a_pause_of_0_leaves_the_next_term_its_credit) {
  consume_at(100ms, 3);
  put({"1"});
  let_go("1", message_outcome::hold_off(0ms, "busy"));
  pass(10ms);  // each lasts so long
  coordinator->resign();
  serve_all();
  let_go("1");
  BOOST_TEST(coordinator->status().epoch == 2);
  put({"2", "3"});
  CHECK_LIST(consumer->begun, "1", "1", "2");  // a burst of 3
}

BOOST_AUTO_TEST_CASE(the_record_tells_the_level_only_at_the_end_of_a_term) {
  consume_at(1s, 1);
  put({"1"});
  pass(200ms);
  const auto level = [this] { return detail::read_notes(detail::parse_record(record_of_term())->notes).limit_level; };
  BOOST_TEST(!level());
  coordinator->resign();
  serve_all();
  BOOST_TEST((detail::parse_record(record_of_term())->phase == term_phase::handing_over));
  BOOST_TEST((level() == 800ms));
  pass(300ms);
  coordinator->stop();
  let_go("1");
  BOOST_TEST((detail::parse_record(record_of_term())->phase == term_phase::retired));
  BOOST_TEST((level() == 500ms));
}

BOOST_AUTO_TEST_CASE(the_first_term_of_all_has_a_whole_burst) {
  BOOST_TEST(limited_successor(std::nullopt).begun() == 3u);
}

BOOST_AUTO_TEST_CASE(the_first_term_behind_a_record_that_was_emptied_begins_without_credit) {
  limited_successor next("");
  BOOST_TEST(next.coordinator->status().epoch == 1);
  BOOST_TEST(next.begun() == 0u);
  next.pass(99ms);
  BOOST_TEST(next.begun() == 0u);
  next.pass(1ms);
  BOOST_TEST(next.begun() == 1u);
}

BOOST_AUTO_TEST_CASE(a_level_that_is_told_counts_from_the_begin_of_the_term) {
  BOOST_TEST(limited_successor(left_record("retired", R"(,"limit_level_us":0)")).begun() == 3u);
  BOOST_TEST(limited_successor(left_record("retired", R"(,"limit_level_us":100000)")).begun() == 2u);
  BOOST_TEST(limited_successor(left_record("retired", R"(,"limit_level_us":100001)")).begun() == 1u);
  limited_successor behind_a_hold_off(left_record("retired", R"(,"limit_level_us":1200000)"));
  behind_a_hold_off.pass(999ms);
  BOOST_TEST(behind_a_hold_off.begun() == 0u);
  behind_a_hold_off.pass(1ms);
  BOOST_TEST(behind_a_hold_off.begun() == 1u);
}

BOOST_AUTO_TEST_CASE(a_forced_term_begins_without_credit) {
  for (const auto* phase : {"executing", "handing_over", "stalled"}) {
    limited_successor next(left_record(phase, R"(,"limit_level_us":0)"));
    BOOST_TEST(next.coordinator->status().epoch == 8);
    BOOST_TEST(next.begun() == 0u, phase);
    next.pass(99ms);
    BOOST_TEST(next.begun() == 0u, phase);
    next.pass(1ms);
    BOOST_TEST(next.begun() == 1u, phase);
  }
}

BOOST_AUTO_TEST_CASE(a_level_that_can_not_be_read_means_no_credit) {
  for (const auto* notes : {"", R"(,"limit_level_us":-1)", R"(,"limit_level_us":"0")", R"(,"limit_level_us":0.5)",
                            R"(,"limit_level_us":9223372036854775807)", R"(,"limit_level_us":null)"}) {
    limited_successor next(left_record("retired", notes));
    BOOST_TEST(next.begun() == 0u, notes);
    next.pass(100ms);
    BOOST_TEST(next.begun() == 1u, notes);
  }
}

BOOST_AUTO_TEST_SUITE_END()
