#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "phase_log.hpp"

namespace demo {

/// Notices that this process was not run for a while, and that its lease has ended by the time it woke. Nobody promises
/// anything of such a process until it has looked at the clock: docs/guarantees.md.
class sleep_watch {
 public:
  /// `margin`: that of the lease. A sleep of half of it counts.
  sleep_watch(zkrecipes::session over, std::chrono::nanoseconds margin);

  /// When it was awake for the last time, if it has slept past its lease since then.
  std::optional<std::int64_t> look();
  /// Looks all the time, and has the log note what is seen.
  boost::asio::awaitable<void> run(phase_log& log, std::string consumer);

 private:
  zkrecipes::session session_;
  std::chrono::nanoseconds limit_;
  std::int64_t last_ns_;
};

}  // namespace demo
