// A case of what operators do with queues.
#pragma once

#include "brokers/letters_case.hpp"
#include "rabbit/rabbit_case.hpp"

namespace zkrecipes::test {

struct operators_case : letters_case<rabbit_case> {
  rabbit_queues queues() { return source(zk()); }
  source_lag lag() { return lags(group()).front(); }

  /// The record at the path, and the queue.
  void begin_to_use() {
    consume(&succeed);
    put_all({"first"});
    BOOST_TEST_REQUIRE(has_results(1));
    end_runs(all);
  }
};

}  // namespace zkrecipes::test
