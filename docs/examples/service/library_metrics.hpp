// What the objects of the library tell of themselves, as metrics of Prometheus.
#pragma once

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/flow.hpp>
#include <zkrecipes/spool/spooled_producer.hpp>
#include <zkrecipes/zkrecipes.hpp>

#include "metrics_page.hpp"

namespace service {

/// Each function adds all counters and states of one object to a page. Reasons and names of nodes are left to the log,
/// because each new text would begin a new time series. `of`: labels that tell several objects of a kind apart.
void add_metrics(metrics_page& page, const zkrecipes::session_status& now, const metrics_page::labels& of = {});
void add_metrics(metrics_page& page, const zkrecipes::session_counters& now, const metrics_page::labels& of = {});
void add_metrics(metrics_page& page, const zkrecipes::coordinator_status& now, const metrics_page::labels& of = {});
void add_metrics(metrics_page& page, const zkrecipes::queue_consumer_status& now, const metrics_page::labels& of = {});
void add_metrics(metrics_page& page, const zkrecipes::shard_group_status& now, const metrics_page::labels& of = {});
void add_metrics(metrics_page& page, const zkrecipes::gate_statistics& now, const metrics_page::labels& of = {});
void add_metrics(metrics_page& page, const zkrecipes::limiter_statistics& now, const metrics_page::labels& of = {});
void add_metrics(metrics_page& page, const zkrecipes::keyed_limiter_statistics& now,
                 const metrics_page::labels& of = {});
void add_metrics(metrics_page& page, const zkrecipes::shared_limiter_status& now, const metrics_page::labels& of = {});
void add_metrics(metrics_page& page, const zkrecipes::balance_status& now, const metrics_page::labels& of = {});
void add_metrics(metrics_page& page, const zkrecipes::shared_balance_status& now, const metrics_page::labels& of = {});
void add_metrics(metrics_page& page, const zkrecipes::spool_status& now, const metrics_page::labels& of = {});

}  // namespace service
