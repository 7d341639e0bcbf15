// The transactions of a consumer, by the C client alone.
#pragma once

#include <cstddef>
#include <string>

#include "delivery_backlog.hpp"
#include "delivery_result.hpp"

namespace bench {

inline constexpr std::size_t messages_of_a_commit = 100;  ///< As in the library.

/// Lists the queue once, then removes the messages and creates their effects, `at_once` in a transaction, one
/// transaction after the other. Each checks the version of a record. The messages are not read, and the listing is not
/// measured.
delivery_result bare_delivery_round(const std::string& hosts, const delivery_backlog& backlog, std::size_t at_once);

}  // namespace bench
