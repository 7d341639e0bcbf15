// A fault at every step of the disk and of the queue, and an end of the process at every step.
#include "spool/spooling.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

constexpr int message_count = 10;

/// Puts ten messages in two groups and waits for what becomes of them. Returns how many steps it took.
int live(spooling_process& life) {
  for (int i = 1; i <= message_count; ++i) {
    life.put(std::to_string(i));
    if (i == 6) life.pass(20ms);
  }
  life.recover();
  return life.plan().step;
}

/// Another process goes on with what is left, without faults.
void live_on(spool_remains& remains, spool_judge& judge, bool no_failed_one = false,
             spool_options options = small_spool()) {
  spooling_process next(remains, options);
  next.put("100");
  auto end = next.flush();
  next.recover();
  BOOST_TEST_REQUIRE(end.done());
  BOOST_TEST(!end.error(), end.error().message());
  BOOST_TEST(next.status().lag == 0u);
  BOOST_TEST(next.status().gap == 0u);
  judge.record_life(next);
  judge.judge(remains.items->all, no_failed_one);
  BOOST_TEST(remains.items->all.back() == "100");
}

constexpr std::array all_faults{put_fault::refused, put_fault::not_done, put_fault::done, put_fault::half_done,
                                put_fault::late};

int steps_without_faults(spool_durability durability = spool_durability::power) {
  auto options = small_spool();
  options.durability = durability;
  spool_remains remains;
  spooling_process life(remains, options);
  return live(life);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(spool_faults)

BOOST_AUTO_TEST_CASE(without_faults_all_are_put_in_order) {
  spool_remains remains;
  spool_judge judge;
  {
    spooling_process life(remains);
    live(life);
    judge.record_life(life);
    for (const auto& [name, what] : life.told()) BOOST_TEST(what == "ok", name << ": " << what);
    BOOST_TEST(life.status().put == 10u);
    BOOST_TEST(life.status().memory == 0u);
  }
  live_on(remains, judge);
}

BOOST_AUTO_TEST_CASE(a_fault_at_any_step_loses_nothing_and_repeats_nothing) {
  const int steps = steps_without_faults();
  BOOST_TEST_REQUIRE(steps > 10);
  for (const auto fault : all_faults) {
    for (int at = 0; at <= steps; ++at) {
      BOOST_TEST_CONTEXT("fault " << static_cast<int>(fault) << " at step " << at) {
        spool_remains remains;
        spool_judge judge;
        {
          spooling_process life(remains, small_spool(), {.fault_at = at}, fault);
          live(life);
          BOOST_TEST(life.status().lag == 0u);
          judge.record_life(life);
        }
        live_on(remains, judge, true);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_power_failure_behind_a_fault_at_any_step_loses_nothing) {
  const int steps = steps_without_faults();
  for (int at = 0; at <= steps; ++at) {
    BOOST_TEST_CONTEXT("fault at step " << at) {
      spool_remains remains;
      spool_judge judge;
      {
        spooling_process life(remains, small_spool(), {.fault_at = at}, put_fault::done);
        remains.items->is_away = true;
        live(life);
        judge.record_life(life);
      }
      remains.items->is_away = false;
      remains.file->lose_power();
      live_on(remains, judge, true);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_end_at_any_step_loses_nothing_that_was_completed) {
  for (const auto durability : {spool_durability::process, spool_durability::power}) {
    const int steps = steps_without_faults(durability);
    for (const bool loses_power : {false, true}) {
      for (int at = 0; at <= steps; ++at) {
        BOOST_TEST_CONTEXT("durability " << static_cast<int>(durability) << ", end at step " << at
                                         << (loses_power ? " with the power" : "")) {
          auto options = small_spool();
          options.durability = durability;
          spool_remains remains;
          spool_judge judge;
          {
            spooling_process life(remains, options, {.crash_at = at});
            live(life);
            judge.record_life(life, loses_power && durability == spool_durability::process);
          }
          if (loses_power) remains.file->lose_power();
          const bool may_have_gap = loses_power && durability == spool_durability::process;
          if (!may_have_gap) live_on(remains, judge, false, options);
        }
      }
    }
  }
}

// What was sent by the process that ended may be done late, when the next one has asked how far the queue is.
BOOST_AUTO_TEST_CASE(an_end_behind_a_fault_of_a_put_loses_nothing) {
  const int steps = steps_without_faults();
  for (const auto fault : all_faults) {
    for (int at = 0; at <= steps; ++at) {
      BOOST_TEST_CONTEXT("fault " << static_cast<int>(fault) << " at step " << at) {
        spool_remains remains;
        spool_judge judge;
        {
          spooling_process life(remains, small_spool(), {.fault_at = at, .crash_at = at + 1}, fault);
          live(life);
          judge.record_life(life);
        }
        live_on(remains, judge);
      }
    }
  }
}

// The file knows that what was appended before the queue was asked has not been sent.
BOOST_AUTO_TEST_CASE(a_gap_takes_nothing_of_what_was_accepted_before_the_queue_could_be_asked) {
  for (const int runs : {1, 2, 3}) {
    spool_remains remains;
    remains.items->all = {"1", "2", "3"};
    remains.items->last = 3;  // of an earlier file
    remains.items->is_away = true;
    for (int run = 0; run < runs; ++run) {
      spooling_process life(remains);
      auto& put = life.put(std::to_string(10 + run));
      life.recover();
      BOOST_TEST_REQUIRE(put.done());
      BOOST_TEST(!put.error());
      BOOST_TEST(life.status().lag == static_cast<std::uint64_t>(run) + 1);
      BOOST_TEST((life.status().error == errc::connection_loss));
    }
    remains.items->is_away = false;
    spooling_process life(remains);
    life.recover();
    BOOST_TEST(life.status().lag == 0u);
    BOOST_TEST(life.status().gap == 3u);
    BOOST_TEST(life.status().trouble.find("spool.db does not know") != std::string::npos);
    std::vector<std::string> expected{"1", "2", "3"};
    for (int run = 0; run < runs; ++run) expected.push_back(std::to_string(10 + run));
    BOOST_TEST(remains.items->all == expected, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(a_lost_file_is_told_and_does_not_take_what_comes) {
  spool_remains remains;
  {
    spooling_process life(remains);
    live(life);
  }
  remains.file = std::make_shared<simulated_file>();
  spooling_process next(remains);
  next.put("11");
  next.recover();
  BOOST_TEST(next.status().gap == 10u);
  BOOST_TEST(next.status().put == 1u);
  BOOST_TEST(remains.items->all.back() == "11");
  BOOST_TEST(remains.items->last == 11u);
}

BOOST_AUTO_TEST_CASE(an_older_copy_is_told_and_repeats_nothing) {
  spool_remains remains;
  std::shared_ptr<simulated_file> copy;
  {
    spooling_process life(remains);
    for (int i = 1; i <= 3; ++i) life.put(std::to_string(i));
    life.recover();
    remains.items->is_away = true;
    life.put("4");
    life.recover();
    copy = std::make_shared<simulated_file>(*remains.file);
    life.put("5");
    remains.items->is_away = false;
    life.recover();
  }
  remains.file = copy;
  spooling_process next(remains);
  next.put("6");
  next.recover();
  BOOST_TEST(next.status().gap == 1u);
  const std::vector<std::string> expected{"1", "2", "3", "4", "5", "6"};
  BOOST_TEST(remains.items->all == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_queue_that_was_removed_gets_what_was_not_put) {
  spool_remains remains;
  {
    spooling_process life(remains);
    live(life);
  }
  remains.items->remove();
  spooling_process next(remains);
  next.put("11");
  next.recover();
  BOOST_TEST(next.status().gap == 0u);
  BOOST_TEST(next.status().trouble.find("does not know any more") != std::string::npos);
  BOOST_TEST(remains.items->all == std::vector<std::string>{"11"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(somebody_else_with_the_name_stops_it) {
  spool_remains remains;
  spooling_process life(remains);
  life.put("1");
  life.recover();
  remains.items->add({"2"});
  auto& put = life.put("3");
  auto& through = life.put_through("4");
  auto end = life.flush();
  life.recover();
  BOOST_TEST_REQUIRE((put.done() && through.done() && end.done()));
  BOOST_TEST(!put.error());  // it is in the file
  BOOST_TEST((through.error() == errc::superseded));
  BOOST_TEST((end.error() == errc::superseded));
  auto& late = life.put("5");
  life.settle();
  BOOST_TEST_REQUIRE(late.done());
  BOOST_TEST((late.error() == errc::superseded));
  BOOST_TEST((life.status().error == errc::superseded));
  const std::vector<std::string> expected{"1", "2"};
  BOOST_TEST(remains.items->all == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
