// Runs of a coordinator: which begin, and which signal stops which of them.
#include <functional>
#include <stdexcept>

#include "election/term_record.hpp"
#include "unit/coordinating.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// The second look at its properties, with which a run begins, fails; something else happens meanwhile.
struct failing_career : quiet_career {
  career_traits traits() const override {
    if (looks++ == 0) return {};
    meanwhile();
    throw std::runtime_error("no properties");
  }
  std::function<void()> meanwhile;
  mutable int looks = 0;
};

/// The first look at its properties is good, the second, with which a run begins, is not.
struct fickle_career : quiet_career {
  career_traits traits() const override {
    career_traits told;
    if (looks++ == 1) told.hand_over_deadline = 48h;
    return told;
  }
  mutable int looks = 0;
};

/// The record is that of a finished term with this epoch.
struct after_epoch : working {
  explicit after_epoch(std::int64_t epoch) {
    detail::term_record before;
    before.epoch = epoch;
    before.phase = term_phase::retired;
    data = detail::serialize(before);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(coordinator_runs, fake_session)

BOOST_AUTO_TEST_CASE(a_stop_of_a_run_that_does_not_begin_is_not_left_to_the_next_one) {
  connect();
  failing_career troubled;
  consumer_coordinator mine(zk, "/e", {"me"});
  troubled.meanwhile = [&] {
    mine.stop();
    settle();
  };
  auto failed = mine.async_run(troubled, begun());
  BOOST_TEST_REQUIRE(ended_with(failed, errc::career_failed));
  quiet_career career;
  auto running = mine.async_run(career, begun());
  BOOST_TEST(!running.done());
}

// Nobody could read the record of such a term.
BOOST_AUTO_TEST_CASE(properties_that_are_out_of_bounds_when_the_run_begins_are_refused) {
  connect();
  fickle_career career;
  consumer_coordinator mine(zk, "/e", {"me"});
  auto refused = mine.async_run(career, begun());
  BOOST_TEST_REQUIRE(ended_with(refused, errc::career_failed));
  BOOST_TEST_REQUIRE((mine.failure() != nullptr));
  BOOST_CHECK_EXCEPTION(std::rethrow_exception(mine.failure()), std::invalid_argument, [](const auto& problem) {
    return std::string(problem.what()).starts_with("career_traits::hand_over_deadline");
  });
  auto running = mine.async_run(career, begun());
  BOOST_TEST(!running.done());
}

BOOST_AUTO_TEST_CASE(a_signal_of_an_earlier_run_does_not_stop_a_later_one) {
  connect();
  quiet_career career;
  consumer_coordinator mine(zk, "/e", {"me"});
  auto before = mine.async_run(career, begun());
  mine.stop();
  settle();
  BOOST_TEST_REQUIRE(before.done());
  auto running = mine.async_run(career, begun());
  before.cancel();
  settle();
  BOOST_TEST(!running.done());
  mine.stop();
  settle();
  BOOST_TEST(running.done());
}

// Nobody could read the record of the term after it.
BOOST_AUTO_TEST_CASE(no_term_follows_the_last_epoch) {
  after_epoch before_it(detail::last_epoch - 1);
  before_it.serve_until("multi /");
  BOOST_TEST_REQUIRE(before_it.next_request() == "multi /");
  const auto next = detail::parse_record(before_it.last().pending.front().first.operations.at(0).data);
  BOOST_TEST_REQUIRE(next.has_value());
  BOOST_TEST(next->epoch == detail::last_epoch);
  after_epoch at_the_end(detail::last_epoch);
  at_the_end.serve_until("multi /");
  BOOST_TEST(at_the_end.next_request() != "multi /");
  at_the_end.serve_until("none");
  BOOST_TEST_REQUIRE(ended_with(at_the_end.running, errc::foreign_data));
}

// Each place would be lost at once, and the client would send without end.
BOOST_AUTO_TEST_CASE(the_line_is_entered_again_when_a_strict_lease_holds_again) {
  auto options = usual();
  options.lease = lease_mode::strict;
  working it(std::move(options));
  it.serve_until("");
  BOOST_TEST_REQUIRE(it.entries == 1);
  it.advance(12s);
  constexpr int most_answers = 200;
  const auto serve_all = [&] {
    for (int i = 0; i < most_answers && it.next_request() != ""; ++i) it.serve();
  };
  serve_all();
  BOOST_TEST(it.entries <= 2);
  for (int i = 0; i < 20; ++i) {
    it.advance(500ms);
    serve_all();
  }
  BOOST_TEST((it.zk.valid_until() > it.now()));
  BOOST_TEST((it.coordinator.status().phase == coordinator_phase::executing));
  BOOST_TEST(it.entries <= 3);
}

BOOST_AUTO_TEST_SUITE_END()
