// A case of what operators do with queues.
#pragma once

#include <string>
#include <vector>

#include "brokers/letters_case.hpp"
#include "rabbit/rabbit_case.hpp"

namespace zkrecipes::test {

struct operators_case : letters_case<rabbit_case> {
  rabbit_queues queues() { return rabbit_queues(zk(), "/t", with); }
  std::vector<rabbit_depth> depths() {
    auto told = run(queues().async_depths(tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(told), std::get<0>(told).message());
    BOOST_TEST_REQUIRE(std::get<1>(told).size() == with.shards);
    return std::get<1>(told);
  }
  /// The consumer's server may be ahead of ours.
  std::vector<dead_letter> dead() override {
    BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_sync(tuple))));
    auto read = run(queues().async_dead_letters(tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(read), std::get<0>(read).message());
    return std::get<1>(read);
  }
  error_code revive(const dead_letter& which) override { return std::get<0>(run(queues().async_revive(which, tuple))); }
  error_code discard(const dead_letter& which) override {
    return std::get<0>(run(queues().async_discard(which, tuple)));
  }

  /// The record at the path, and the queue.
  void begin_to_use() {
    consume(&succeed);
    put_all({"first"});
    BOOST_TEST_REQUIRE(has_results(1));
    end_runs(all);
  }
};

}  // namespace zkrecipes::test
