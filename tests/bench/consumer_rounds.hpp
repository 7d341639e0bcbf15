// One round of a consumer of ours.
#pragma once

#include <string>

#include <zkrecipes/consumer/queue_consumer.hpp>

#include "delivery_backlog.hpp"
#include "delivery_result.hpp"

namespace bench {

/// Runs a coordinator with a consumer until the backlog is worked off. The time is that from the first call of
/// `process` to the reply of the last commit.
delivery_result consume_round(const std::string& hosts, const delivery_backlog& backlog,
                              const zkrecipes::queue_consumer_options& how);

}  // namespace bench
