// Takes from a queue through one object; the test answers the requests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <zkrecipes/queue.hpp>

#include "unit/fake_session.hpp"

namespace zkrecipes::test {

struct reading : fake_session {
  inline static const std::string one = "qn-0000000001";
  inline static const std::string two = "qn-0000000002";
  inline static const std::string three = "qn-0000000003";

  reading() : line(zk, "/q") { connect(); }

  recorder<message> next() { return line.async_next(begun()); }
  recorder<message> take() { return line.async_take(begun()); }
  backend::request answer_data(std::string data) { return answer_with({.data = std::move(data)}); }
  /// Refuses the oldest request, a transaction, because of its operation number `place`.
  void fail_at(std::size_t place, errc why) {
    backend::reply refused;
    refused.error = why;
    refused.results.assign(3, {errc::rolled_back, {}, {}});
    refused.results[place].error = why;
    answer(refused);
  }
  long count(const std::string& request) {
    const auto all = pending();
    return std::count(all.begin(), all.end(), request);
  }
  queue line;
};

}  // namespace zkrecipes::test
