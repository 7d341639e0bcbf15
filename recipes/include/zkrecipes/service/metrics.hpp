// What the objects of the library tell of themselves, as metrics of Prometheus.
#pragma once

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/flow.hpp>
#include <zkrecipes/service/metrics_page.hpp>
#include <zkrecipes/spool/spooled_producer.hpp>
#include <zkrecipes/zkrecipes.hpp>

namespace zkrecipes::service {

/// Each function adds all counters and states of one object to a page. Reasons and names of nodes are left to the log,
/// because each new text would begin a new time series. `of`: labels that tell several objects of a kind apart.
void add_metrics(metrics_page& page, const session_status& now, const metrics_page::labels& of = {});
void add_metrics(metrics_page& page, const session_counters& now, const metrics_page::labels& of = {});
void add_metrics(metrics_page& page, const coordinator_status& now, const metrics_page::labels& of = {});
void add_metrics(metrics_page& page, const queue_consumer_status& now, const metrics_page::labels& of = {});
void add_metrics(metrics_page& page, const shard_group_status& now, const metrics_page::labels& of = {});
void add_metrics(metrics_page& page, const gate_statistics& now, const metrics_page::labels& of = {});
void add_metrics(metrics_page& page, const limiter_statistics& now, const metrics_page::labels& of = {});
void add_metrics(metrics_page& page, const keyed_limiter_statistics& now, const metrics_page::labels& of = {});
void add_metrics(metrics_page& page, const shared_limiter_status& now, const metrics_page::labels& of = {});
void add_metrics(metrics_page& page, const balance_status& now, const metrics_page::labels& of = {});
void add_metrics(metrics_page& page, const shared_balance_status& now, const metrics_page::labels& of = {});
void add_metrics(metrics_page& page, const spool_status& now, const metrics_page::labels& of = {});

}  // namespace zkrecipes::service
