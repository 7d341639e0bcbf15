// The figures of all consumers that a process has had.
#pragma once

#include <set>

#include <zkrecipes/consumer/queue_consumer.hpp>

namespace service {

/// The consumers of shards come and go; their totals stay. Thread safety: none, the context has one thread.
class consumer_totals {
 public:
  void begin(const zkrecipes::queue_consumer* consumer) { present_.insert(consumer); }
  void end(const zkrecipes::queue_consumer* consumer);
  zkrecipes::queue_consumer_status sum() const;

 private:
  std::set<const zkrecipes::queue_consumer*> present_;
  zkrecipes::queue_consumer_status past_;
};

}  // namespace service
