#include "consumer_totals.hpp"

#include <algorithm>

namespace service {
namespace {

using status = zkrecipes::queue_consumer_status;

void add_counters(status& to, const status& more) {
  to.received += more.received;
  to.done += more.done;
  to.again += more.again;
  to.parked += more.parked;
  to.passed_over += more.passed_over;
  to.lost += more.lost;
  to.declined += more.declined;
  to.evicted += more.evicted;
  to.waited += more.waited;
  to.commits += more.commits;
  to.refused += more.refused;
}

void add_present(status& to, const status& more) {
  to.in_hand += more.in_hand;
  to.finished += more.finished;
  to.held_back += more.held_back;
  to.resting += more.resting;
  to.limited += more.limited;
  to.last_commit = std::max(to.last_commit, more.last_commit);
  to.oldest = std::max(to.oldest, more.oldest);
}

}  // namespace

void consumer_totals::end(const zkrecipes::queue_consumer* consumer) {
  if (present_.erase(consumer)) add_counters(past_, consumer->status());
}

status consumer_totals::sum() const {
  auto total = past_;
  for (const auto* each : present_) {
    const auto now = each->status();
    add_counters(total, now);
    add_present(total, now);
  }
  return total;
}

}  // namespace service
