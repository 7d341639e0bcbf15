// Additions of one object: one after the other, and not for ever.
#include <zkrecipes/counter.hpp>

#include "unit/fake_session.hpp"

#include <boost/test/unit_test.hpp>

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct counting : fake_session {
  counting() { connect(); }

  recorder<std::int64_t> add(counter& to) {
    auto made = record<std::int64_t>();
    to.async_add(1, made.token());
    settle();
    return made;
  }
  void answer_number(const std::string& number) {
    backend::reply found;
    found.data = number;
    found.stat.czxid = found.stat.mzxid = 5;
    answer(found);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(counters, counting)

BOOST_AUTO_TEST_CASE(an_addition_that_always_meets_others_gives_up) {
  counter ours(zk, "/n", {.most_tries = 3});
  auto adding = add(ours);
  for (int i = 0; i < 3; ++i) {
    CHECK_PENDING("get /n");
    answer_number(std::to_string(i));
    CHECK_PENDING("set /n");
    fail(errc::bad_version);
    BOOST_TEST(adding.done() == (i == 2));
    CHECK_PENDING();
    advance(1s);
  }
  BOOST_TEST_REQUIRE(adding.done());
  BOOST_TEST((adding.error() == errc::busy));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(the_end_of_one_wakes_one_of_many_that_wait) {
  counter ours(zk, "/n");
  std::vector<recorder<std::int64_t>> all;
  for (int i = 0; i < 1'000; ++i) all.push_back(add(ours));
  for (int i = 0; i < 3; ++i) {
    CHECK_PENDING("get /n");
    answer_number(std::to_string(i));
    CHECK_PENDING("set /n");
    BOOST_TEST(steps_after_answer() < 100u, "as many as for one alone");
    BOOST_TEST(all[static_cast<std::size_t>(i)].done());
  }
}

BOOST_AUTO_TEST_SUITE_END()
