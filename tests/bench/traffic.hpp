// Counters of the servers.
#pragma once

namespace bench {

/// The totals over all servers.
struct traffic {
  double watch_events = 0;
  double requests = 0;
};

traffic count_traffic();

}  // namespace bench
