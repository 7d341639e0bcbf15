// A guardian that does not answer, or not for long.
#include <boost/test/unit_test.hpp>

#include "unit/guarded_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(guardian_silence, guarded_case)

BOOST_AUTO_TEST_CASE(a_guardian_that_does_not_answer_is_called_again) {
  it->connect(0x77);
  take();
  it->advance(9'900ms);
  BOOST_TEST(failures() == 0u);
  it->advance(200ms);
  BOOST_TEST(failures() == 1u);
  BOOST_TEST(!it->state().guardians.front()->open);
  it->advance(1s);
  BOOST_TEST_REQUIRE(calls() == 2u);
  take();
  say(guardian_answer::kind::held);
  BOOST_TEST(is_guarded());
}

BOOST_AUTO_TEST_CASE(a_guardian_that_falls_silent_is_noticed) {
  it->connect(0x77);
  take();
  for (int i = 0; i < 5; ++i) {
    heard();
    say(guardian_answer::kind::held);
    it->advance(10'100ms);
    CHECK_TEXTS(heard(), "complete");
    BOOST_TEST(is_guarded());
  }
  it->advance(10'100ms);
  BOOST_TEST(!is_guarded());
  BOOST_TEST(failures() == 1u);
  const auto texts = logged();
  BOOST_TEST_REQUIRE(texts.size() == 2u, "told once that it is there, and once that it is not");
  BOOST_TEST(texts.back().starts_with("unguarded"), texts.back());
}

BOOST_AUTO_TEST_CASE(one_that_answers_once_and_ends_each_time_is_called_less_and_less_often) {
  it->connect(0x77);
  std::size_t in_the_first_seconds = 0;
  for (int i = 0; i < 600; ++i) {  // a minute
    if (guardian().open) {
      take();
      say(guardian_answer::kind::held);
      lose();
    }
    it->advance(100ms);
    if (i == 60) in_the_first_seconds = calls();
  }
  BOOST_TEST(calls() - in_the_first_seconds <= 25u, calls() - in_the_first_seconds);
}

BOOST_AUTO_TEST_SUITE_END()
