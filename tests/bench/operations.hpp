// The operations of our own library that are measured in round trips, one sample at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/ownership.hpp>
#include <zkrecipes/session.hpp>

namespace bench {

struct setting {
  zkrecipes::session first;
  zkrecipes::session second;
  double round_trip_ms = 20;
  int repeat = 5;
};

struct operation {
  const char* name;
  const char* peers;  ///< The name that the peers' programs give to the comparable operation.
  /// Measures the operation once, in milliseconds, below a path that exists; leaves the path empty.
  boost::asio::awaitable<double> (*sample)(setting&, std::string path);
};

std::vector<operation> lock_operations();
std::vector<operation> gate_operations();
std::vector<operation> election_operations();
std::vector<operation> queue_operations();
std::vector<operation> barrier_operations();

/// The median of the repeats of each operation, in round trips.
boost::asio::awaitable<std::map<std::string, double>> measure(setting where, std::vector<operation> what);

// Measurements for every recipe that has owners.

using owning = boost::asio::awaitable<zkrecipes::ownership>;

/// Milliseconds until the acquisition completes. Releases it afterwards.
boost::asio::awaitable<double> time_to_own(owning acquisition);

/// Milliseconds from the release by `holder` until `waiter`, in the second session, knows that it owns. Releases it
/// afterwards. `both_in_line` ends when the waiter's place is visible.
boost::asio::awaitable<double> time_to_succeed(setting& where, owning holder, owning waiter,
                                               boost::asio::awaitable<void> both_in_line);

}  // namespace bench
