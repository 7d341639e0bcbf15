// Lives of a process with random faults and ends, and a disk that takes its time.
#pragma once

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "spool/spooling.hpp"

namespace zkrecipes::test {

/// One history, all of which follows from the seed. Derived classes have the target.
class random_history {
 public:
  virtual ~random_history() = default;

  void run() {
    const int lives = 2 + static_cast<int>(below(more_lives_));
    for (int i = 0; i < lives; ++i) live(i + 1 == lives);
    judge_.judge(arrived(), false);
  }

 protected:
  /// There are two lives, and fewer than `more_lives` more.
  random_history(unsigned seed, std::size_t more_lives) : random_(seed), more_lives_(more_lives) {
    options_.count = 1 + below(5);
    options_.durability = below(2) ? spool_durability::power : spool_durability::process;
    options_.most_memory = below(2) ? 600 : 16'000;
    options_.most_messages = below(2) ? 5 : 1'000;
  }

  std::size_t below(std::size_t bound) { return random_() % bound; }
  const spool_options& options() const { return options_; }
  spool_judge& judge() { return judge_; }

 private:
  virtual std::unique_ptr<spooling_process> make_life(step_plan plan, put_fault fault) = 0;
  /// Whether the target is out of reach.
  virtual bool& is_away() = 0;
  /// What has come to the target, in order.
  virtual const std::vector<std::string>& arrived() = 0;
  /// What the target can do by itself, if anything.
  virtual std::function<void()> act_of_target() { return {}; }
  /// The process is gone; the power may fail.
  virtual void end_life() = 0;

  void live(bool is_last) {
    step_plan plan;
    const auto fault = static_cast<put_fault>(below(5));
    plan.fault_at = static_cast<int>(below(40));
    if (!is_last) plan.crash_at = static_cast<int>(below(60));
    is_away() = below(3) == 0;
    {
      const auto life = make_life(plan, fault);
      for (int i = 0; i < 30 && !life->plan().is_crashed; ++i) act(*life);
      if (is_last) finish(*life);
      judge_.record_life(*life);
    }
    end_life();
  }
  void finish(spooling_process& life) {
    is_away() = false;
    life.disk().release();
    auto flushed = life.flush(10min);
    for (int i = 0; i < 10; ++i) life.recover();
    BOOST_TEST_REQUIRE(flushed.done());
    BOOST_TEST(life.status().lag == 0u);
    BOOST_TEST(life.status().memory == 0u);
  }
  void act(spooling_process& life) {
    const auto of_target = act_of_target();
    const auto which = below(of_target ? 9 : 8);
    switch (which) {
      case 0: is_away() = !is_away(); break;
      case 1: life.pass(std::chrono::milliseconds(below(10))); break;
      case 2: life.pass(std::chrono::milliseconds(below(5'000))); break;
      case 3: life.disk().hold(); break;
      case 4: life.disk().release(); break;
      case 5: life.put_through(std::to_string(++last_)); break;
      default:
        if (which == 6 && of_target) {
          of_target();
        } else {
          for (auto i = 1 + below(4); i > 0; --i) life.put(std::to_string(++last_));
        }
    }
    if (below(2)) life.settle();
  }

  std::mt19937 random_;
  std::size_t more_lives_;
  spool_options options_ = small_spool();
  spool_judge judge_;
  int last_ = 0;
};

}  // namespace zkrecipes::test
