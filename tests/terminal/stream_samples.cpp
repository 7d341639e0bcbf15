#include "stream_samples.hpp"

using namespace zkadmin;
using namespace std::chrono_literals;

namespace samples {

stream_status log_of_orders() {
  stream_shard_status broken, good;
  broken.shard = 3;
  broken.is_damaged = true;
  good.last = "17-3";
  good.ahead = {"18-0 19-2"};
  good.failed = 1;
  stream_status orders{"/orders", "redis_streams", "orders", 4, 1};
  orders.groups = {{"audit", {broken}, 2}, {"billing", {good}, 0}};
  orders.broker = broker_status();
  orders.broker->depths = {{0, "billing", 10'000, true, 400s}, {1, "billing", 17, false, 2s}, {0, "audit", 0}};
  return orders;
}

stream_status queues_of_jobs() {
  stream_shard_status first, second;
  first.runs = {{"shop", "8589934601", "1-29"}};
  second.shard = 1;
  second.names = 2;
  stream_status jobs{"/jobs", "rabbit_queues", "jobs", 3, 0};
  jobs.groups = {{"consumers", {first, second}, 0}};
  jobs.broker = broker_status();
  auto& depths = jobs.broker->depths;
  depths = {{0, "", 12}, {1, ""}, {2, ""}};
  depths[0].consumers = 0;
  depths[1].is_missing = true;
  depths[2].consumers = 1;
  return jobs;
}

stream_status without_broker() {
  stream_status quiet{"/quiet", "rabbit_queues", "quiet", 1, 0};
  quiet.broker = broker_status{"it does not answer", true, {}};
  return quiet;
}

}  // namespace samples
