// Lives of a process with random faults and ends, and a disk that takes its time.
#include <random>

#include "spool/spooling.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// One history, all of which follows from the seed.
class history {
 public:
  explicit history(unsigned seed) : random_(seed) {
    options_.count = 1 + below(5);
    options_.durability = below(2) ? spool_durability::power : spool_durability::process;
    options_.most_memory = below(2) ? 600 : 16'000;
    options_.most_messages = below(2) ? 5 : 1'000;
  }

  void run() {
    const int lives = 2 + static_cast<int>(below(3));
    for (int i = 0; i < lives; ++i) live(i + 1 == lives);
    judge_.judge(remains_.items->all, false);
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }

  void live(bool is_last) {
    step_plan plan;
    const auto fault = static_cast<put_fault>(below(5));
    plan.fault_at = static_cast<int>(below(40));
    if (!is_last) plan.crash_at = static_cast<int>(below(60));
    remains_.items->is_away = below(3) == 0;
    {
      spooling_process life(remains_, options_, plan, fault);
      for (int i = 0; i < 30 && !life.plan().is_crashed; ++i) act(life);
      if (is_last) {
        remains_.items->is_away = false;
        life.disk().release();
        auto end = life.flush(10min);
        for (int i = 0; i < 10; ++i) life.recover();
        BOOST_TEST_REQUIRE(end.done());
        BOOST_TEST(life.status().lag == 0u);
        BOOST_TEST(life.status().memory == 0u);
      }
      judge_.note_life(life);
    }
    if (options_.durability == spool_durability::power && below(2)) remains_.file->lose_power();
  }

  void act(spooling_process& life) {
    switch (below(8)) {
      case 0: remains_.items->is_away = !remains_.items->is_away; break;
      case 1: life.pass(std::chrono::milliseconds(below(10))); break;
      case 2: life.pass(std::chrono::milliseconds(below(5'000))); break;
      case 3: life.disk().hold(); break;
      case 4: life.disk().release(); break;
      case 5: life.put_through(std::to_string(++last_)); break;
      default:
        for (auto i = 1 + below(4); i > 0; --i) life.put(std::to_string(++last_));
    }
    if (below(2)) life.settle();
  }

  std::mt19937 random_;
  spool_options options_ = small_spool();
  spool_remains remains_;
  spool_judge judge_;
  int last_ = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(spool_random)

BOOST_AUTO_TEST_CASE(whatever_happens_each_is_put_once_and_in_order) {
  for (unsigned seed = 1; seed <= 2'000; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) { history(seed).run(); }
  }
}

BOOST_AUTO_TEST_SUITE_END()
