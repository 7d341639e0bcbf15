// A case of what operators do with streams.
#pragma once

#include <string>

#include "brokers/letters_case.hpp"
#include "redis/redis_case.hpp"

namespace zkrecipes::test {

struct operators_case : letters_case<redis_case> {
  redis_streams streams() { return source(zk()); }
  error_code seek(source_position where, const std::string& group = "g") {
    auto done = run(streams().async_seek(0, group, std::move(where), tuple));
    return std::get<0>(done);
  }
  source_lag lag(const std::string& group = "g") { return lags(group).front(); }
};

}  // namespace zkrecipes::test
