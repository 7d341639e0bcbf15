// Holders that are cut off from the servers until their sessions have expired: the command of each ends before that of
// the next holder begins. ZKADMIN_HOLD_TRIALS=50 makes 50 trials.
#include <algorithm>
#include <cstdlib>
#include <deque>

#include <signal.h>

#include "live/hold_fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

using words = std::vector<std::string>;

constexpr int at_a_time = 10;

struct trial {
  std::string name;
  running_program holder;
  std::optional<running_program> next{};
};

struct cut_off_fixture : hold_fixture {
  running_program begin(const std::string& at, const std::string& from, const words& command) {
    return start(words{"lock", root() + at, "--session-timeout", "4s", "--hosts", from} + command);
  }

  /// Some holders behind the proxy, and one that waits behind each of them.
  std::deque<trial> begin_trials(int first, int count) {
    std::deque<trial> all;
    for (int i = first; i < first + count; ++i) {
      const auto name = std::to_string(i);
      leaves("/" + name);
      words more;
      if (i % 2 == 0) more = {"stubborn"};
      all.push_back({name, begin("/" + name, own().address(), witness("holder" + name, more))});
    }
    for (auto& each : all) BOOST_TEST_REQUIRE(begins("holder" + each.name));
    for (auto& each : all) each.next.emplace(begin("/" + each.name, hosts, witness("next" + each.name)));
    for (auto& each : all) BOOST_TEST_REQUIRE(gets_length("/" + each.name, 2));
    return all;
  }

  void cut(bool is_silent) {
    if (is_silent) return own().freeze(true);
    own().refuse(true);
    own().cut();
  }

  void judge(trial& each) {
    BOOST_TEST_REQUIRE(begins("next" + each.name));
    const auto gap = begin_of("next" + each.name) - last_sign_of("holder" + each.name);
    BOOST_TEST(gap > 0, each.name);
    least_gap = std::min(least_gap, gap);
    const auto result = each.holder.wait();
    BOOST_TEST(result.code == 121, result.err);
    BOOST_TEST(is_gone("holder" + each.name));
    each.next->send(SIGTERM);
    BOOST_TEST(each.next->wait().code == 128 + SIGTERM);
  }

  std::int64_t least_gap = INT64_MAX;
};

int wanted_trials() {
  const char* const wish = std::getenv("ZKADMIN_HOLD_TRIALS");
  return wish ? std::max(1, std::atoi(wish)) : at_a_time;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(lock_cut_off_suite, cut_off_fixture)

BOOST_AUTO_TEST_CASE(the_command_ends_before_that_of_the_next_holder_begins) {
  const int wanted = wanted_trials();
  for (int done = 0; done < wanted; done += at_a_time) {
    auto all = begin_trials(done, std::min(at_a_time, wanted - done));
    cut(done / at_a_time % 2 == 0);
    for (auto& each : all) judge(each);
    own().freeze(false);
    own().refuse(false);
  }
  BOOST_TEST_MESSAGE(wanted << " trials, the least gap was " << static_cast<double>(least_gap) / 1e6 << " ms");
}

BOOST_AUTO_TEST_SUITE_END()
