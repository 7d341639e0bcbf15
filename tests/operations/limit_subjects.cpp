// A rate and a pace that processes share, and calls that are made once in a period.
#include <zkrecipes/consumer/shared_limiter.hpp>
#include <zkrecipes/flow/once_per.hpp>
#include <zkrecipes/flow/shared_balance.hpp>

#include "operations/subjects.hpp"

namespace zkrecipes::test {

namespace {

shared_limiter make_shared_limiter(const session& zk) {
  return shared_limiter(zk, "/limit", {.id = "a", .rate = 1'000'000, .slices = 3});
}

subject of_shared_limiter() {
  return subject_of<shared_limiter>("shared_limiter")
      .made(&make_shared_limiter)
      .has("shared_limiter::async_run()", [](auto& l, auto t) { l.async_run(std::move(t)); });
}

/// Without a run there is nothing to wait for.
subject of_running_limiter() {
  return subject_of<shared_limiter>("shared_limiter that runs")
      .made([](const session& zk) {
        auto made = make_shared_limiter(zk);
        made.async_run([](error_code) {});
        return made;
      })
      .has("shared_limiter::async_acquire(cost)", [](auto& l, auto t) { l.async_acquire(1, std::move(t)); })
      .has(
          "shared_limiter::async_acquire_for(cost, budget)",
          [](auto& l, auto t) { l.async_acquire_for(1, budget, std::move(t)); }, timed_out);
}

subject of_once_per() {
  return subject_of<once_per>("once_per")
      .made([](const session& zk) { return once_per(zk, "/once", {.id = "a"}); })
      .has("once_per::async_claim(key, note)", [](auto& o, auto t) { o.async_claim("k", "n", std::move(t)); })
      .has("once_per::async_withdraw(what)",
           [](auto& o, auto t) {
             once_intent mine;
             mine.is_new = true;
             mine.key = "k";
             o.async_withdraw(mine, std::move(t));
           })
      .has("once_per::async_clean()", [](auto& o, auto t) { o.async_clean(std::move(t)); });
}

shared_balance make_shared_balance(const session& zk) { return shared_balance(zk, "/pace", {.id = "a", .range = 4}); }

subject of_shared_balance() {
  return subject_of<shared_balance>("shared_balance")
      .made(&make_shared_balance)
      .has("shared_balance::async_run()", [](auto& b, auto t) { b.async_run(std::move(t)); });
}

/// Without a run there is nothing to wait for.
struct running_pace {
  shared_balance pace;
  shared_balance_track track;
};

subject of_running_pace() {
  return subject_of<running_pace>("shared_balance_track of a balance that runs")
      .made([](const session& zk) {
        running_pace made{make_shared_balance(zk), {}};
        made.pace.async_run([](error_code) {});
        made.track = made.pace.track("a");
        return made;
      })
      .has("shared_balance_track::async_move()", [](auto& b, auto t) { b.track.async_move(std::move(t)); });
}

}  // namespace

std::vector<subject> limit_subjects() {
  return {of_shared_limiter(), of_running_limiter(), of_once_per(), of_shared_balance(), of_running_pace()};
}

}  // namespace zkrecipes::test
