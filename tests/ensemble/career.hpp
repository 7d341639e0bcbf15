// A career that does what the test says and notes what it was asked to do.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <zkrecipes/consumer/leader_career.hpp>

#include "support/coroutine.hpp"

namespace zkrecipes::test {

/// Shared by careers of which at most one may execute at a time.
struct floor_space {
  int executing = 0;
  int most = 0;
};

class career : public leader_career {
 public:
  using phase = std::function<asio::awaitable<void>(term)>;
  using last_phase = std::function<asio::awaitable<void>(term, term_end)>;

  explicit career(floor_space& on) : floor_(on) {}

  career_traits traits() const override { return with; }

  asio::awaitable<void> inaugurate(term present) override {
    terms.push_back(present);
    note("inaugurate", present);
    if (on_inaugurate) co_await on_inaugurate(present);
  }

  asio::awaitable<void> execute(term present) override {
    note("execute", present);
    floor_.most = std::max(floor_.most, ++floor_.executing);
    struct leave {
      floor_space& floor;
      ~leave() { --floor.executing; }
    } leaving{floor_};
    if (on_execute) {
      co_await on_execute(present);
    } else {
      co_await present.async_ending(tuple);
    }
  }

  asio::awaitable<void> hand_over(term present, term_end reason) override {
    note("hand_over", present);
    log.back() += std::string(" ") + to_string(reason);
    if (on_hand_over) co_await on_hand_over(present, reason);
  }

  asio::awaitable<void> ended(term present, term_end reason) override {
    ends.push_back(std::to_string(present.epoch()) + ' ' + to_string(reason));
    if (on_ended) co_await on_ended(present, reason);
  }

  bool has(const std::string& entry) const { return std::find(log.begin(), log.end(), entry) != log.end(); }

  career_traits with;
  phase on_inaugurate;
  phase on_execute;  ///< By default it lasts until the term is to end.
  last_phase on_hand_over;
  last_phase on_ended;
  std::vector<term> terms;
  std::vector<std::string> ends;  ///< "2 resigned"
  std::vector<std::string> log;   ///< "execute 2", "hand_over 2 resigned"; an execution is noted once a term.

 private:
  void note(const std::string& what, const term& present) {
    const auto entry = what + ' ' + std::to_string(present.epoch());
    if (log.empty() || log.back() != entry) log.push_back(entry);
  }

  floor_space& floor_;
};

}  // namespace zkrecipes::test
