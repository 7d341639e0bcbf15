// Random lives of a process that puts into a queue of its own.
#include "spool/random_history.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// Into a queue that can be asked what was put.
class queue_history final : public random_history {
 public:
  explicit queue_history(unsigned seed) : random_history(seed, 3) {}

 private:
  std::unique_ptr<spooling_process> make_life(step_plan plan, put_fault fault) override {
    return std::make_unique<spooling_process>(remains_, options(), plan, fault);
  }
  bool& is_away() override { return remains_.items->is_away; }
  const std::vector<std::string>& arrived() override { return remains_.items->all; }
  void end_life() override {
    if (options().durability == spool_durability::power && below(2)) remains_.file->lose_power();
  }

  spool_remains remains_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(spool_random)

BOOST_AUTO_TEST_CASE(whatever_happens_each_is_put_once_and_in_order) {
  for (unsigned seed = 1; seed <= 2'000; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) { queue_history(seed).run(); }
  }
}

BOOST_AUTO_TEST_SUITE_END()
