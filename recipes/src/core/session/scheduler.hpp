// Where a session runs, and its clock.
#pragma once

#include <atomic>
#include <memory>

#include <boost/asio/any_io_executor.hpp>

#include <zkrecipes/lease_clock.hpp>

#include "backend/world.hpp"

namespace zkrecipes::detail {

class reach_limit;

namespace asio = boost::asio;

inline constexpr auto never = lease_clock::time_point::max();

/// The end of a budget that begins at `from`: `from` itself if the budget is not positive, `never` if the sum is more
/// than the clock can represent.
inline lease_clock::time_point end_of(time_budget budget, lease_clock::time_point from) {
  const lease_clock::duration length = budget;
  if (length <= lease_clock::duration::zero()) return from;
  return length >= never - from ? never : from + length;
}

class resumptions;

/// The executors and the world that conditions need. It lives as long as any waiter of the session.
struct scheduler : std::enable_shared_from_this<scheduler> {
  asio::any_io_executor base;    ///< The user's executor.
  asio::any_io_executor strand;  ///< On top of `base`: everything of the session runs here.
  std::unique_ptr<backend::world> world;
  std::weak_ptr<detail::resumptions> resumptions;  ///< Used on the strand.
  std::shared_ptr<reach_limit> reach;       ///< Ends what waits for a connection for too long. Null without a session.
  mutable std::atomic<int> operations = 0;  ///< Those that have not completed.

  lease_clock::time_point now() const { return world->now(); }
  /// The end of a budget that begins now.
  lease_clock::time_point deadline_of(time_budget budget) const { return end_of(budget, now()); }
};

using scheduler_ptr = std::shared_ptr<scheduler>;

}  // namespace zkrecipes::detail
