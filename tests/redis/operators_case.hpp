// A case of what operators do with streams.
#pragma once

#include <string>
#include <vector>

#include "brokers/letters_case.hpp"
#include "redis/redis_case.hpp"

namespace zkrecipes::test {

struct operators_case : letters_case<redis_case> {
  redis_streams streams() { return redis_streams(zk(), "/t", with); }
  error_code seek(redis_position where, const std::string& group = "g") {
    auto done = run(streams().async_seek(0, group, std::move(where), tuple));
    return std::get<0>(done);
  }
  redis_lag lag(const std::string& group = "g") {
    auto told = run(streams().async_lag(group, tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(told), std::get<0>(told).message());
    BOOST_TEST_REQUIRE(std::get<1>(told).size() == 1u);
    return std::get<1>(told).front();
  }
  /// The consumer's server may be ahead of ours.
  std::vector<dead_letter> dead() override {
    BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_sync(tuple))));
    auto read = run(streams().async_dead_letters("g", tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(read), std::get<0>(read).message());
    return std::get<1>(read);
  }
  error_code revive(const dead_letter& which) override {
    return std::get<0>(run(streams().async_revive("g", which, tuple)));
  }
  error_code discard(const dead_letter& which) override {
    return std::get<0>(run(streams().async_discard("g", which, tuple)));
  }
};

}  // namespace zkrecipes::test
