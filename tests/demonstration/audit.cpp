// The audit of the demonstration finds what went wrong.
#include "demonstration/audit.hpp"

#include <algorithm>
#include <stdexcept>

#include <boost/test/unit_test.hpp>

#include "demonstration/fault_plan.hpp"
#include "demonstration/report.hpp"
#include "demonstration/roles.hpp"
#include "demonstration/summary.hpp"
#include "demonstration/workload.hpp"

using namespace demo;

namespace {

std::vector<result> results(const std::vector<std::uint64_t>& numbers) {
  std::vector<result> all;
  for (auto each : numbers) all.push_back({1, "a", each, 0});
  return all;
}

using zkrecipes::message_order;

/// The audit of a run without bad messages.
audit check_good(const std::vector<std::uint64_t>& numbers, std::uint64_t produced) {
  return check(results(numbers), {}, workload({.messages = produced}), message_order::strict);
}

/// 100 messages of ten keys; three of them are poison and two kill.
workload some_bad() { return workload({.messages = 100, .poison = 3, .killers = 2, .keys = 10}); }

std::vector<std::uint64_t> good_numbers(const workload& work) {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t i = 1; i <= work.messages(); ++i) {
    if (!work.bad().count(i)) numbers.push_back(i);
  }
  return numbers;
}

zkrecipes::dead_letter letter(const workload& work, std::uint64_t number) {
  return {.name = "", .item = "", .data = work.text(number), .reason = "why", .attempts = attempts_limit, .since = 0};
}

std::vector<zkrecipes::dead_letter> all_letters(const workload& work) {
  std::vector<zkrecipes::dead_letter> letters;
  for (const auto& [number, kind] : work.bad()) letters.push_back(letter(work, number));
  return letters;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(demonstration_audit)

BOOST_AUTO_TEST_CASE(all_is_well) {
  const auto found = check_good({1, 2, 3, 4}, 4);
  BOOST_TEST(found.clean());
  BOOST_TEST(found.processed == 4u);
}

BOOST_AUTO_TEST_CASE(what_nobody_produced_makes_up_for_nothing) {
  const auto found = check_good({1, 2, 0, 77}, 4);
  BOOST_TEST(found.lost == 2u);
  BOOST_TEST(found.unexpected == 2u);
  BOOST_TEST(found.processed == 2u);
  BOOST_TEST(!found.clean());
}

BOOST_AUTO_TEST_CASE(every_effect_beyond_the_first_of_a_message_counts) {
  const auto found = check_good({1, 2, 2, 2, 3}, 3);
  BOOST_TEST(found.duplicated == 2u);
  BOOST_TEST(found.lost == 0u);
  BOOST_TEST(!found.clean());
}

BOOST_AUTO_TEST_CASE(a_message_says_what_it_is) {
  const auto work = some_bad();
  BOOST_TEST(work.bad().size() == 5u);
  const auto bad = *work.bad().begin();
  const auto read = parse_message(work.text(bad.first));
  BOOST_TEST(read.number == bad.first);
  BOOST_TEST(read.key == work.key(bad.first));
  BOOST_TEST((read.kind == bad.second));
  BOOST_TEST(parse_message("17").number == 0u);
  BOOST_CHECK_THROW(workload({.messages = 100, .poison = 11}), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(the_bad_messages_are_parked_and_no_others) {
  const auto work = some_bad();
  const auto done = results(good_numbers(work));
  auto letters = all_letters(work);
  BOOST_TEST(check(done, letters, work, message_order::strict).clean());
  letters.push_back(letters.front());
  BOOST_TEST(check(done, letters, work, message_order::strict).parked_wrongly == 1u);
  letters.resize(4);
  auto found = check(done, letters, work, message_order::strict);
  BOOST_TEST(found.not_parked == 1u);
  BOOST_TEST(found.lost == 1u);
  letters.push_back(letter(work, good_numbers(work).front()));
  found = check(done, letters, work, message_order::strict);
  BOOST_TEST(found.parked_wrongly == 1u);
  BOOST_TEST(found.duplicated == 1u, "done and parked");
}

BOOST_AUTO_TEST_CASE(a_letter_has_a_reason_and_no_more_attempts_than_the_limit) {
  const auto work = some_bad();
  auto letters = all_letters(work);
  letters[0].reason.clear();
  ++letters[1].attempts;
  const auto found = check(results(good_numbers(work)), letters, work, message_order::none);
  BOOST_TEST(found.without_reason == 1u);
  BOOST_TEST(found.attempts_over == 1u);
}

BOOST_AUTO_TEST_CASE(the_order_counts_within_a_key_or_over_all_or_not_at_all) {
  const workload work({.messages = 100, .keys = 10});
  auto numbers = good_numbers(work);
  std::reverse(numbers.begin(), numbers.end());
  BOOST_TEST(check(results(numbers), {}, work, message_order::strict).out_of_order == 99u);
  const auto by_key = check(results(numbers), {}, work, message_order::by_key).out_of_order;
  BOOST_TEST(by_key == 90u, "the first of each key is in order");
  BOOST_TEST(check(results(numbers), {}, work, message_order::none).out_of_order == 0u);
}

BOOST_AUTO_TEST_CASE(a_server_is_started_before_the_next_is_killed) {
  for (int kills : {0, 1, 20}) {
    int stopped = 0;
    int count = 0;
    for (const auto& each : plan_faults(3, kills)) {
      if (each.kind == fault_kind::kill_server) ++count, ++stopped;
      if (each.kind == fault_kind::start_server) --stopped;
      BOOST_TEST((stopped == 0 || stopped == 1));
    }
    BOOST_TEST(stopped == 0);
    BOOST_TEST(count == kills);
  }
}

BOOST_AUTO_TEST_CASE(a_consumer_that_failed_is_no_success) {
  summary outcome;
  for (const char* how : {"resign", "kill", "pause"})
    outcome.terms[static_cast<std::int64_t>(outcome.terms.size())].ended = how;
  outcome.server_leaders_killed = 1;
  BOOST_TEST(outcome.success());
  outcome.failed_consumers = 1;
  BOOST_TEST(!outcome.success());
  outcome.failed_consumers = 0;
  outcome.runs_ended = 1;
  BOOST_TEST(!outcome.success());
  outcome.runs_ended = 0;
  outcome.planned_kills = 2;
  BOOST_TEST(!outcome.success());
  outcome.planned_kills = 1;
  outcome.counts.overlapping_phases = 1;
  BOOST_TEST(!outcome.success());
}

BOOST_AUTO_TEST_SUITE_END()
