// Limiters in the fake world, where the test moves the time.
#pragma once

#include <deque>
#include <string>

#include <zkrecipes/flow/keyed_limiter.hpp>
#include <zkrecipes/flow/limiter.hpp>

#include "limit/keyed_limiter.hpp"
#include "limit/limiter.hpp"
#include "support/fake_world.hpp"
#include "support/recorded.hpp"

namespace zkrecipes::test {

struct limiting : fake_bench {
  limiter make(limiter_options options) {
    return limiter(detail::make_limiter(io().get_executor(), options, worlds()));
  }
  keyed_limiter make_keyed(keyed_limiter_options options) {
    return keyed_limiter(detail::make_keyed_limiter(io().get_executor(), options, worlds()));
  }
  /// One more operation, whose end is recorded. `who` is added to `order` when it succeeds.
  recorder<>& expect(const std::string& who = "") {
    auto& added = all.emplace_back(io().get_executor());
    added.on_completion([this, &added, who] {
      if (!added.error()) order += who;
    });
    return added;
  }
  /// How many calls are let through now.
  static int drain(limiter& from) {
    int count = 0;
    while (from.try_acquire()) ++count;
    return count;
  }
  std::size_t timers() { return state().timers.size(); }

  std::deque<recorder<>> all;
  std::string order;
};

}  // namespace zkrecipes::test
