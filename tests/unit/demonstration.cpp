// The audit of the demonstration finds what went wrong.
#include <boost/test/unit_test.hpp>

#include "demonstration/audit.hpp"
#include "demonstration/phases.hpp"
#include "demonstration/report.hpp"
#include "demonstration/summary.hpp"

using namespace demo;

namespace {

std::vector<result> results(const std::vector<std::uint64_t>& numbers) {
  std::vector<result> all;
  for (auto each : numbers) all.push_back({1, "a", each, 0});
  return all;
}

phase_mark begins(std::int64_t time, std::string who, std::int64_t epoch, std::string phase) {
  return {time, std::move(who), epoch, std::move(phase), true};
}
phase_mark ends(std::int64_t time, std::string who, std::int64_t epoch, std::string phase) {
  return {time, std::move(who), epoch, std::move(phase), false};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(demonstration_audit)

BOOST_AUTO_TEST_CASE(all_is_well) {
  const auto found = check(results({1, 2, 3, 4}), 4);
  BOOST_TEST(found.clean());
  BOOST_TEST(found.processed == 4u);
}

BOOST_AUTO_TEST_CASE(what_nobody_produced_makes_up_for_nothing) {
  const auto found = check(results({1, 2, 0, 77}), 4);
  BOOST_TEST(found.lost == 2u);
  BOOST_TEST(found.unexpected == 2u);
  BOOST_TEST(found.processed == 2u);
  BOOST_TEST(!found.clean());
}

BOOST_AUTO_TEST_CASE(every_effect_beyond_the_first_of_a_message_counts) {
  const auto found = check(results({1, 2, 2, 2, 3}), 3);
  BOOST_TEST(found.duplicated == 2u);
  BOOST_TEST(found.lost == 0u);
  BOOST_TEST(!found.clean());
}

BOOST_AUTO_TEST_CASE(a_hand_over_beside_the_successor_is_seen) {
  std::vector<phase_mark> marks{begins(1, "a", 1, "execute"),   ends(5, "a", 1, "execute"),
                                begins(6, "a", 1, "hand_over"), begins(7, "b", 2, "inaugurate"),
                                ends(8, "b", 2, "inaugurate"),  ends(9, "a", 1, "hand_over")};
  BOOST_TEST(count_overlaps(marks) == 1u);
  marks = {begins(1, "a", 1, "hand_over"), ends(2, "a", 1, "hand_over"), begins(3, "b", 2, "inaugurate")};
  BOOST_TEST(count_overlaps(marks) == 0u);
}

BOOST_AUTO_TEST_CASE(a_process_that_was_stopped_does_nothing) {
  const std::vector<phase_mark> marks{begins(1, "a", 1, "execute"),
                                      {2, "a", 0, "silenced", false},
                                      begins(3, "b", 2, "inaugurate"),
                                      ends(4, "a", 1, "execute"),
                                      begins(5, "a", 1, "hand_over")};
  BOOST_TEST(count_overlaps(marks) == 1u, "the hand-over only");
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
  outcome.counts.overlapping_phases = 1;
  BOOST_TEST(!outcome.success());
}

BOOST_AUTO_TEST_SUITE_END()
