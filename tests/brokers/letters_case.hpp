// What cases of operators have in common, who look at dead letters.
#pragma once

#include <stdexcept>
#include <vector>

#include "brokers/broker_case.hpp"
#include "support/recorded.hpp"

namespace zkrecipes::test {

/// `Case`: a `broker_case`.
template <class Case>
class letters_case : public Case {
 public:
  std::vector<dead_letter> letters_of(const session& by) {
    return must(this->run(this->source(by).async_dead_letters(this->group(), tuple)));
  }
  error_code revive(const session& by, const dead_letter& which) {
    return std::get<0>(this->run(this->source(by).async_revive(this->group(), which, tuple)));
  }
  /// The consumer's server may be ahead of ours.
  std::vector<dead_letter> dead() {
    BOOST_TEST_REQUIRE(!std::get<0>(this->run(this->zk().async_sync(tuple))));
    return letters_of(this->zk());
  }
  error_code revive(const dead_letter& which) { return revive(this->zk(), which); }
  error_code discard(const dead_letter& which) {
    return std::get<0>(this->run(this->source(this->zk()).async_discard(this->group(), which, tuple)));
  }
  std::vector<source_lag> lags(const std::string& of) {
    auto told = must(this->run(this->source(this->zk()).async_lag(of, tuple)));
    BOOST_TEST_REQUIRE(told.size() == this->with.shards);
    return told;
  }

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
