// What cases of operators have in common, who look at dead letters.
#pragma once

#include <stdexcept>
#include <vector>

#include "brokers/broker_case.hpp"

namespace zkrecipes::test {

/// `Case`: a `broker_case`.
template <class Case>
class letters_case : public Case {
 public:
  virtual std::vector<dead_letter> dead() = 0;
  virtual error_code revive(const dead_letter& which) = 0;
  virtual error_code discard(const dead_letter& which) = 0;

  /// The only message, which no consumer can process, becomes the only letter.
  dead_letter park() {
    auto& who = this->consume([](term, const message&) -> asio::awaitable<message_outcome> {
      throw std::runtime_error("it can not be read");
    });
    BOOST_TEST_REQUIRE(this->run_until([&] { return who.does.status().parked == 1; }));
    this->end_runs(this->all);
    const auto found = dead();
    BOOST_TEST_REQUIRE(found.size() == 1u);
    return found.front();
  }
  dead_letter make_letter() {
    this->put_with_key("poison", "smith");
    return park();
  }
};

}  // namespace zkrecipes::test
