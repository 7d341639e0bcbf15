// The rules for what stands still, and for whoever comes again and again.
#include <boost/test/unit_test.hpp>

#include "problem_samples.hpp"
#include "problems/rules.hpp"

using namespace zkadmin;
using namespace samples;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(standing_problems)

BOOST_AUTO_TEST_CASE(what_stands_still_and_who_stands_twice_in_an_election) {
  const auto found = problems_of(standing_election());
  BOOST_TEST_REQUIRE(found.size() == 2u, "candidates with one id may all live");
  BOOST_TEST(found[0].name == "stands-still");
  BOOST_TEST(found[0].text == "a message has been in process for longer than 45 s: qn-0000000007");
  BOOST_TEST(found[1].name == "same-session");
  BOOST_TEST(found[1].text == "a session has more than one place: twin");
}

BOOST_AUTO_TEST_CASE(a_message_that_stays_in_process_need_not_have_a_known_name) {
  auto election = standing_election();
  election.still_message.clear();
  BOOST_TEST(problems_of(election).at(0).text == "a message has been in process for longer than 45 s");
  auto group = failing_group();
  group.still_message.clear();
  BOOST_TEST(problems_of(group).at(2).text == "a message has been in process for longer than 45 s: shards 3-4,9");
}

BOOST_AUTO_TEST_CASE(a_member_that_came_again_and_works_is_healthy) {
  auto group = failing_group();
  const auto comes_again = [&] {
    return std::ranges::count(problems_of(group), std::string("comes-again"), &problem::name);
  };
  BOOST_TEST(comes_again() == 1);
  group.members[2].owned = {5};
  BOOST_TEST(comes_again() == 0);
}

BOOST_AUTO_TEST_CASE(in_a_lock_an_id_that_comes_again_is_told_and_a_session_with_many_places_is_not) {
  recipe_status lock;
  lock.path = "/lock";
  lock.kinds = {recipe::lock};
  for (std::int64_t i = 0; i < 6; ++i) {
    participant_status who{"waiter", i < 2 ? "zkrecipes" : "job", "n" + std::to_string(i)};
    who.position = i;
    who.session = i < 2 ? 7 : 70 + i % 2;
    who.age = 50s;
    lock.participants.push_back(who);
  }
  BOOST_TEST(problems_of(lock).empty());
  lock.participants.back().session = 99;
  BOOST_TEST(problems_of(lock).at(0).name == "comes-again");
  BOOST_TEST(
      problems_of(lock).at(0).text ==
      "several sessions with one id have entered within a minute, the dead ones stay until they expire: job (3)");
  lock.participants.back().age = 2min;
  BOOST_TEST(problems_of(lock).empty(), "it lives");
}

BOOST_AUTO_TEST_CASE(members_that_fail_or_come_again_and_shards_that_stand_still) {
  const auto found = problems_of(failing_group());
  BOOST_TEST_REQUIRE(found.size() == 3u);
  BOOST_TEST(found[0].name == "failing-member");
  BOOST_TEST(found[0].text == "most shards fail there, so others have them: b (no disk)");
  BOOST_TEST(found[1].name == "comes-again");
  BOOST_TEST(found[1].text == "gone soon after each start, again and again: c");
  BOOST_TEST(found[2].name == "stands-still");
  BOOST_TEST(found[2].text ==
             "a message has been in process for longer than 45 s: shards 3-4,9; that of shard 3 is m-1");
}

BOOST_AUTO_TEST_CASE(the_first_of_a_line_that_does_not_act) {
  auto barrier = full_round();
  BOOST_TEST(text_of(problems_of(barrier)) == "2 are present of 2, and nobody has begun the round");
  barrier.participants[1].age = 1s;
  BOOST_TEST(problems_of(barrier).empty());
  queue_status queue{"/jobs", 3, 0, 2, 0, 40s};
  BOOST_TEST(problems_of(queue).empty());
  queue.taker_waits = 31s;
  BOOST_TEST(text_of(problems_of(queue)) == "the first of 2 takers takes no item, for 31 s: 3 wait");
  queue.oldest = 29s;
  BOOST_TEST(problems_of(queue).empty());
}

BOOST_AUTO_TEST_SUITE_END()
