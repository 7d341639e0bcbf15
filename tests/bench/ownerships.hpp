// Measurements for every recipe that has owners.
#pragma once

#include <zkrecipes/ownership.hpp>

#include "operations.hpp"

namespace bench {

using owning = boost::asio::awaitable<zkrecipes::ownership>;

/// Milliseconds until the acquisition completes. Releases it afterwards.
boost::asio::awaitable<double> time_to_own(owning acquisition);

/// Milliseconds from the release by `holder` until `waiter`, in the second session, knows that it owns. Releases it
/// afterwards. `both_in_line` ends when the waiter's place is visible.
boost::asio::awaitable<double> time_to_succeed(setting& where, owning holder, owning waiter,
                                               boost::asio::awaitable<void> both_in_line);

}  // namespace bench
