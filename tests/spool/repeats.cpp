// Spooled producers whose target does not tell what was put: what may have been put is put again, and dropped behind
// it.
#include "spool/random_history.hpp"
#include "spool/simulated_receiver.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// What outlives a process.
struct receiver_remains : spool_remains {
  std::shared_ptr<received_items> received = std::make_shared<received_items>();

  receiver_remains() { file->has_origins = true; }
};

std::unique_ptr<spooling_process> begin_life(receiver_remains& remains, step_plan plan = {},
                                             put_fault fault = put_fault::refused,
                                             spool_options options = small_spool()) {
  const auto make = [received = remains.received, fault](boost::asio::any_io_executor strand,
                                                         spooling_process::plan_ptr steps) {
    return std::make_unique<simulated_receiver>(std::move(strand), received, std::move(steps), fault);
  };
  return std::make_unique<spooling_process>(remains, make, options, plan);
}

void put_range(spooling_process& by, int from, int to) {
  for (int i = from; i <= to; ++i) by.put(std::to_string(i));
}

std::vector<std::string> texts_of(int from, int to) {
  std::vector<std::string> all;
  for (int i = from; i <= to; ++i) all.push_back(std::to_string(i));
  return all;
}

void expect_received(const receiver_remains& remains, int last) {
  BOOST_TEST(remains.received->all == texts_of(1, last), boost::test_tools::per_element());
}

class receiver_history final : public random_history {
 public:
  explicit receiver_history(unsigned seed) : random_history(seed, 4) {}

 private:
  std::unique_ptr<spooling_process> make_life(step_plan plan, put_fault fault) override {
    return begin_life(remains_, plan, fault, options());
  }
  bool& is_away() override { return remains_.received->is_away; }
  const std::vector<std::string>& arrived() override { return remains_.received->all; }
  std::function<void()> act_of_target() override {
    return [this] { remains_.received->bring_late(); };
  }
  void end_life() override {
    if (below(2) == 0) return;
    if (options().durability != spool_durability::power) {
      judge().forgive();
      // What the file may have lost, and was sent, is not sent again in its place: it must not come later.
      remains_.received->bring_late();
    }
    remains_.file->lose_power();
  }

  receiver_remains remains_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(spool_repeats)

BOOST_AUTO_TEST_CASE(an_end_at_any_step_loses_nothing_and_has_nothing_taken_twice) {
  std::size_t repeats = 0;
  for (int step = 0; step <= 40; ++step) {
    BOOST_TEST_CONTEXT("end at step " << step) {
      receiver_remains remains;
      spool_judge judge;
      {
        const auto life = begin_life(remains, {.crash_at = step});
        put_range(*life, 1, 10);
        life->recover();
        judge.record_life(*life);
      }
      const auto next = begin_life(remains);
      put_range(*next, 11, 15);
      next->recover();
      BOOST_TEST(next->status().lag == 0u);
      judge.record_life(*next);
      judge.judge(remains.received->all, false);
      repeats += remains.received->repeats;
    }
  }
  BOOST_TEST(repeats > 0u);
}

BOOST_AUTO_TEST_CASE(a_put_that_fails_in_any_way_loses_nothing_and_has_nothing_taken_twice) {
  for (const auto fault :
       {put_fault::refused, put_fault::not_done, put_fault::done, put_fault::half_done, put_fault::late}) {
    for (int step = 0; step <= 30; ++step) {
      receiver_remains remains;
      const auto life = begin_life(remains, {.fault_at = step}, fault);
      auto& last = life->put_through("1");
      put_range(*life, 2, 12);
      life->recover();
      remains.received->bring_late();
      spool_judge judge;
      judge.record_life(*life);
      judge.judge(remains.received->all, false);
      BOOST_TEST(last.done());
      BOOST_TEST(life->status().lag == 0u);
    }
  }
}

// The queue has messages that the file has lost. Others get their numbers.
BOOST_AUTO_TEST_CASE(a_power_failure_that_takes_the_end_of_the_file_makes_no_message_look_like_a_repeat) {
  auto options = small_spool();
  options.durability = spool_durability::process;
  receiver_remains remains;
  {
    const auto life = begin_life(remains, {}, put_fault::refused, options);
    life->settle();
    put_range(*life, 1, 8);
    life->recover();
    expect_received(remains, 8);
  }
  remains.file->lose_power();
  BOOST_TEST_REQUIRE(remains.file->seen.extent.last == 0u);
  const auto next = begin_life(remains, {}, put_fault::refused, options);
  put_range(*next, 9, 20);
  next->recover();
  expect_received(remains, 20);
}

BOOST_AUTO_TEST_CASE(copies_of_a_file_that_are_used_in_turn_lose_nothing) {
  receiver_remains remains;
  remains.received->is_away = true;
  {
    const auto life = begin_life(remains);
    put_range(*life, 1, 5);
    life->recover();
  }
  receiver_remains copy;
  *copy.file = *remains.file;
  copy.received = remains.received;
  remains.received->is_away = false;
  {
    const auto life = begin_life(remains);
    put_range(*life, 6, 8);
    life->recover();
  }
  copy.file->origins = 100;  // they are random
  {
    const auto life = begin_life(copy);
    put_range(*life, 9, 11);
    life->recover();
  }
  const auto life = begin_life(remains);
  put_range(*life, 12, 14);
  life->recover();
  expect_received(remains, 14);
}

BOOST_AUTO_TEST_CASE(what_is_put_again_after_a_restart_has_one_origin) {
  receiver_remains remains;
  remains.received->is_away = true;
  for (int i = 0; i < 5; ++i) {
    const auto life = begin_life(remains);
    put_range(*life, 4 * i + 1, 4 * i + 4);
    life->recover();
  }
  BOOST_TEST_REQUIRE(remains.file->seen.rows.size() == 20u);
  remains.received->is_away = false;
  auto options = small_spool();
  options.count = 1'000;  // nothing is removed before so many were put
  for (int step = 0; step < 40; ++step) {
    remains.received->repeated.clear();
    const auto life = begin_life(remains, {.crash_at = step}, put_fault::refused, options);
    life->recover();
    BOOST_TEST(remains.received->repeated.size() <= 1u);
  }
  BOOST_TEST(remains.received->repeats > 0u);
  expect_received(remains, 20);
}

BOOST_AUTO_TEST_CASE(what_can_not_be_put_is_tried_again_alone_and_what_is_behind_it_waits) {
  receiver_remains remains;
  remains.received->refused = "5";
  const auto life = begin_life(remains);
  put_range(*life, 1, 12);
  life->recover();
  expect_received(remains, 4);
  BOOST_TEST((life->status().error == errc::no_auth));
  BOOST_TEST(life->status().put == 4u);
  BOOST_TEST(remains.received->repeats == 0u);
  remains.received->refused.clear();
  life->recover();
  expect_received(remains, 12);
  BOOST_TEST(!life->status().error);
  BOOST_TEST(remains.received->repeats == 0u);
}

BOOST_AUTO_TEST_CASE(whatever_happens_each_is_taken_once_and_in_order) {
  for (unsigned seed = 1; seed <= 1'000; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) { receiver_history(seed).run(); }
  }
}

BOOST_AUTO_TEST_SUITE_END()
