// What came out, against what must have come out.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <zkrecipes/session.hpp>

#include "observer.hpp"

namespace demo {

/// One accepted effect, in the order in which the servers accepted them.
struct result {
  std::int64_t epoch = 0;
  std::string consumer;
  std::uint64_t number = 0;
  std::int64_t accepted_ms = 0;
};

struct audit {
  std::uint64_t produced = 0;
  std::uint64_t processed = 0;   ///< Messages with at least one effect.
  std::uint64_t lost = 0;        ///< Messages without one.
  std::uint64_t duplicated = 0;  ///< Effects of a message that had one before.
  std::uint64_t unexpected = 0;  ///< Effects of what nobody produced, and those that can not be read.
  std::uint64_t out_of_order = 0;
  std::uint64_t overlapping_terms = 0;   ///< Effects of a term after one of its successor's.
  std::uint64_t overlapping_phases = 0;  ///< Phases that began while one of another term went on.

  bool clean() const noexcept {
    return !(lost || duplicated || unexpected || out_of_order || overlapping_terms || overlapping_phases);
  }
};

boost::asio::awaitable<std::vector<result>> read_results(zkrecipes::session session);

/// Of the effects alone: `overlapping_phases` is for the caller to count.
audit check(const std::vector<result>& results, std::uint64_t produced);

/// Fills in the gaps between terms, and the terms that passed unseen.
void complete(std::map<std::int64_t, term_history>& terms, const std::vector<result>& results);

}  // namespace demo
