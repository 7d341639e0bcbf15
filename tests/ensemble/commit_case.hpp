// Transactions under `/t`.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <zkrecipes/two_phase_commit.hpp>

#include "ensemble/ensemble_case.hpp"

BOOST_TEST_DONT_PRINT_LOG_VALUE(zkrecipes::decision)
BOOST_TEST_DONT_PRINT_LOG_VALUE(zkrecipes::ballot)

namespace zkrecipes::test {

using names = std::vector<std::string>;

class commit_case : public ensemble_case {
 public:
  two_phase_commit over(session& which) { return two_phase_commit(which, "/t"); }
  two_phase_commit here() { return over(zk()); }

  void begin(const std::string& id, names participants, const std::string& data = {}) {
    auto [error] = run(here().async_begin(id, std::move(participants), data, tuple));
    BOOST_TEST_REQUIRE(!error, error.message());
  }
  decision vote(session& which, const std::string& id, const std::string& who, ballot what,
                const std::string& reason = {}) {
    auto [error, outcome] = run(over(which).async_vote(id, who, what, reason, tuple));
    BOOST_TEST_REQUIRE(!error, error.message());
    return outcome.decision;
  }
  decision vote(const std::string& id, const std::string& who, ballot what, const std::string& reason = {}) {
    return vote(zk(), id, who, what, reason);
  }
  commit_outcome decide(session& which, const std::string& id, lease_clock::duration budget = 0s) {
    auto [error, outcome] = run(over(which).async_decide(id, budget, tuple));
    BOOST_TEST_REQUIRE(!error, error.message());
    return outcome;
  }
  commit_outcome outcome_of(const std::string& id) {
    auto [error, outcome] = run(here().async_outcome(id, tuple));
    BOOST_TEST_REQUIRE(!error, error.message());
    return outcome;
  }
  std::size_t clean_up(std::chrono::milliseconds age = 0ms) {
    auto [error, removed] = run(here().async_clean_up(age, tuple));
    BOOST_TEST_REQUIRE(!error, error.message());
    return removed;
  }
  names undecided() {
    auto [error, ids] = run(here().async_undecided(tuple));
    BOOST_TEST_REQUIRE(!error, error.message());
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  /// Checks that nothing is left after a clean-up, and removes the path.
  void finish() {
    clean_up();
    clean_up();
    BOOST_TEST(undecided().empty());
    remove_path();
  }
  void remove_path() {
    for (const std::string each : {"/t/_coordinator", "/t/_undecided", "/t/_decided"}) {
      if (exists(each)) remove(each);
    }
    remove("/t");
  }
};

}  // namespace zkrecipes::test
