// What the servers count.
#pragma once

namespace bench {

/// Totals of all servers.
struct traffic {
  double watch_events = 0;
  double requests = 0;
};

traffic count_traffic();

}  // namespace bench
