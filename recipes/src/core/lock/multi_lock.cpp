#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/multi_lock.hpp>

#include "lock/held_together.hpp"
#include "lock/lock_line.hpp"
#include "session/deadline.hpp"
#include "session/make.hpp"

namespace zkrecipes {

using namespace detail;

namespace {

awaitable<outcome<multi_ownership>> acquire_all(core_ptr session, std::vector<std::string> paths, line_options options,
                                                held_together::acquire_one acquire) {
  auto held = std::make_shared<held_together>(session);
  for (auto& each : paths) {
    auto error = co_await held->acquire(acquire, std::move(each), options);
    if (error) co_return failed<multi_ownership>(error);  // `held` releases its locks
  }
  co_return outcome<multi_ownership>(error_code(), multi_ownership(std::move(held)));
}

}  // namespace

multi_lock::multi_lock(session over, std::vector<std::string> paths, line_options options)
    : session_(std::move(over)), paths_(std::move(paths)), options_(std::move(options)) {
  require_session(session_);
  if (paths_.empty()) throw std::invalid_argument("multi-lock: there must be a path");
  for (const auto& each : paths_) require_path("multi-lock path", each);
  require_id("line_options::id", options_.id);
  std::sort(paths_.begin(), paths_.end());
  const auto twice = std::adjacent_find(paths_.begin(), paths_.end());
  if (twice != paths_.end()) throw std::invalid_argument("multi-lock path " + *twice + ": it is there twice");
}

void multi_lock::start_acquire(handler h, core_ptr core, std::vector<std::string> paths, line_options options,
                               lease_clock::duration budget) {
  const auto on = core->get_scheduler();
  auto acquiring = acquire_all(std::move(core), std::move(paths), std::move(options), &acquire_lock);
  launch(*on, std::move(h), with_deadline(on, on->deadline_of(budget), std::move(acquiring)));
}

void multi_lock::start_try_acquire(handler h, core_ptr core, std::vector<std::string> paths, line_options options) {
  const auto on = core->get_scheduler();
  launch(*on, std::move(h), acquire_all(std::move(core), std::move(paths), std::move(options), &try_acquire_lock));
}

}  // namespace zkrecipes
