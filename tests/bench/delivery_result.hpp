// What one round of the part "deliveries" has shown.
#pragma once

namespace bench {

struct delivery_result {
  double rate = 0;     ///< Messages a second.
  double commits = 0;  ///< Transactions of the whole round.
};

}  // namespace bench
