// Which messages are named, and for how long messages are taken one at a time.
#include "delivery/probation.hpp"

#include <boost/test/unit_test.hpp>

using namespace zkrecipes;
using namespace zkrecipes::detail;

namespace {

consumer_notes notes_of(std::int32_t crashes, std::vector<std::string> in_hand = {}) {
  consumer_notes notes;
  notes.crashes = crashes;
  notes.in_hand = std::move(in_hand);
  return notes;
}

std::size_t length_of(std::int32_t crashes, std::size_t window) {
  probation watch(notes_of(crashes), window);
  std::size_t settled = 0;
  for (; watch.is_on(); ++settled) watch.settled("any");
  return settled;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(probations)

BOOST_AUTO_TEST_CASE(each_further_crash_makes_it_twice_as_long_up_to_a_bound) {
  BOOST_TEST(length_of(1, 2) == 0u);
  BOOST_TEST(length_of(2, 2) == 2u);
  BOOST_TEST(length_of(3, 2) == 4u);
  BOOST_TEST(length_of(5, 3) == 24u);
  BOOST_TEST(length_of(1'000'000, 2) == 10'000u);
}

BOOST_AUTO_TEST_CASE(a_message_that_is_not_begun_after_all_is_not_named_any_more) {
  probation watch(notes_of(2), 2);
  watch.announce("a");
  BOOST_TEST(watch.wants_write());
  watch.written(watch.notes_with({}));
  BOOST_TEST(watch.is_named("a"));
  watch.retract();
  BOOST_TEST(watch.wants_write());
  BOOST_TEST(watch.notes_with({}).in_hand.empty());
}

BOOST_AUTO_TEST_CASE(the_commit_that_settles_a_named_message_takes_its_name_away) {
  probation watch(notes_of(0, {"a"}), 2);
  BOOST_TEST(!watch.wants_write());
  BOOST_TEST(watch.is_written(watch.notes_with({"b"})));
  BOOST_TEST(!watch.is_written(watch.notes_with({"a"})));
}

BOOST_AUTO_TEST_CASE(what_was_named_and_begun_is_in_hand_until_it_is_settled_or_put_back) {
  probation watch(notes_of(2), 2);
  for (const auto* each : {"a", "b"}) {
    watch.announce(each);
    watch.written(watch.notes_with({}));
    watch.begun(each);
  }
  BOOST_TEST(watch.in_hand() == std::vector<std::string>({"a", "b"}), boost::test_tools::per_element());
  watch.put_back("a");
  watch.settled("b");
  BOOST_TEST(watch.in_hand().empty());
}

BOOST_AUTO_TEST_SUITE_END()
