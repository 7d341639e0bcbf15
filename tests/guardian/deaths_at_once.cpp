// Fifty processes that die at once, in several ways: each session is ended, once.
#include <csignal>

#include <unistd.h>

#include "guardian/twice_guarded.hpp"

using namespace guardian;
using namespace guardian::test;

namespace {

constexpr std::int64_t fifty = 50;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(deaths_at_once, twice_guarded)

BOOST_AUTO_TEST_CASE(killed) {
  populate(fifty, [](const child::orders& orders) { orders.wait(); });
  signal_all(SIGKILL);
  for (const auto& each : leaders) each->wait_for_end();  // the guardians have not run meanwhile
  BOOST_TEST(ended.empty());
  check_deaths();
}

BOOST_AUTO_TEST_CASE(in_several_ways_beside_others_that_live) {
  populate(fifty, [](const child::orders& orders) { orders.wait() == 'x' ? ::_exit(7) : ::_exit(0); });
  std::vector<std::unique_ptr<child>> living;
  for (int i = 0; i < 10; ++i) {
    living.push_back(std::move(leaders.back()));
    leaders.pop_back();
  }
  for (std::size_t i = 0; i < leaders.size(); ++i) {
    if (i % 3 == 0) leaders[i]->signal(SIGKILL);
    if (i % 3 == 1) leaders[i]->signal(SIGTERM);
    if (i % 3 == 2) leaders[i]->order('g'), leaders[i]->order('x');
  }
  check_endings(leaders.size());
  ended.clear();
  ended_early.clear();
  leaders.swap(living);
  check_lives();
  signal_all(SIGKILL);
  check_deaths();
}

BOOST_AUTO_TEST_SUITE_END()
