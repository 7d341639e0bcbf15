// Compares the results of a run with the results that it must have.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "observer.hpp"

namespace demo {

/// One accepted effect of a message.
struct result {
  std::int64_t epoch = 0;
  std::string consumer;
  std::uint64_t number = 0;
  std::int64_t accepted_ms = 0;
};

struct audit {
  std::uint64_t produced = 0;
  std::uint64_t processed = 0;   ///< Messages with at least one effect.
  std::uint64_t lost = 0;        ///< Messages without an effect.
  std::uint64_t duplicated = 0;  ///< Effects of a message that already had one.
  std::uint64_t unexpected = 0;  ///< Effects of messages that were not produced, and effects that can not be parsed.
  std::uint64_t out_of_order = 0;
  std::uint64_t overlapping_terms = 0;   ///< Effects of a term after an effect of a later term.
  std::uint64_t overlapping_phases = 0;  ///< Phases that began during a phase of another term.

  bool clean() const noexcept {
    return !(lost || duplicated || unexpected || out_of_order || overlapping_terms || overlapping_phases);
  }
};

boost::asio::awaitable<std::vector<result>> read_results(zkrecipes::session session);

/// Checks the effects only: the caller counts `overlapping_phases`. `results` are in the order of acceptance.
audit check(const std::vector<result>& results, std::uint64_t produced);

/// Fills in the gaps between terms, and the terms that the observer missed.
void complete(std::map<std::int64_t, term_history>& terms, const std::vector<result>& results);

}  // namespace demo
