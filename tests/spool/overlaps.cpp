// The queue answers while the disk is still at work.
#include "spool/spooling.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// The file has 1 to 10 and knows of none that it was put; the queue has 1 to 7.
spool_remains left_behind() {
  spool_remains remains;
  auto& seen = remains.file->seen;
  for (std::uint64_t i = 1; i <= 10; ++i) {
    seen.rows[i] = {i, "", std::to_string(i)};
    if (i <= 7) remains.items->add({std::to_string(i)});
  }
  seen.extent.last = 10;
  remains.file->sync();
  return remains;
}

spool_options large_batches() {
  auto options = small_spool();
  options.count = 100;  // nothing is removed before so many were put
  return options;
}

/// Messages 11 to 14 are being written when the queue says how far it is. The process ends so many steps later.
void live_with_overlap(spool_remains& remains, spool_judge& judge, int steps) {
  remains.items->is_away = true;
  spooling_process life(remains, large_batches());
  life.settle();
  for (int i = 11; i <= 14; ++i) life.put(std::to_string(i));
  life.settle();
  life.disk().hold();
  life.pass(5ms);
  BOOST_TEST_REQUIRE(remains.file->seen.rows.size() == 14u, "they are written");
  BOOST_TEST_REQUIRE(life.told().back().second == "", "and not told of it");
  remains.items->is_away = false;
  life.pass(100ms);
  life.plan().crash_at = life.plan().step + steps;
  life.disk().release();
  life.recover();
  judge.record_life(life);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(spool_overlaps)

BOOST_AUTO_TEST_CASE(an_answer_of_the_queue_during_a_transaction_counts_when_it_is_in_the_file) {
  for (int steps = 0; steps <= 15; ++steps) {
    BOOST_TEST_CONTEXT("end " << steps << " steps behind the transaction") {
      auto remains = left_behind();
      spool_judge judge;
      live_with_overlap(remains, judge, steps);
      spooling_process next(remains);
      next.put("100");
      next.recover();
      BOOST_TEST(next.status().lag == 0u);
      BOOST_TEST(next.status().gap == 0u);
      judge.record_life(next);
      judge.judge(remains.items->all, false);
      BOOST_TEST_REQUIRE(!remains.items->all.empty());
      BOOST_TEST(remains.items->all.back() == "100");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
