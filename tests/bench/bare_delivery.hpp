// The transactions of a consumer, by the C client alone.
#pragma once

#include <cstddef>
#include <string>

#include "delivery_backlog.hpp"
#include "delivery_result.hpp"

namespace bench {

inline constexpr std::size_t messages_of_a_commit = 100;  ///< As in the library.

/// What the bare loop does.
struct bare_delivery {
  std::size_t at_once = messages_of_a_commit;  ///< Messages in a transaction.
  bool reads = false;                          ///< Reads the messages, too: those of the next transaction meanwhile.
};

/// Lists the queue once, then removes the messages and creates their effects, one transaction after the other. Each
/// checks the version of a record. The listing and the first read are not measured.
delivery_result bare_delivery_round(const std::string& hosts, const delivery_backlog& backlog,
                                    const bare_delivery& how);

}  // namespace bench
