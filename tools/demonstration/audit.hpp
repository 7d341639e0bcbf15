// Compares the results of a run with the results that it must have.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/consumer/queue_consumer.hpp>
#include <zkrecipes/session.hpp>

#include "observer.hpp"
#include "roles.hpp"
#include "workload.hpp"

namespace demo {

/// One accepted effect of a message.
struct result {
  std::int64_t epoch = 0;
  std::string consumer;
  std::uint64_t number = 0;
  std::int64_t accepted_ms = 0;
  std::uint32_t shard = 0;
};

struct audit {
  std::uint64_t produced = 0;
  std::uint64_t processed = 0;   ///< Messages with at least one effect.
  std::uint64_t lost = 0;        ///< Messages without an effect that are not parked.
  std::uint64_t duplicated = 0;  ///< Effects of a message that already had one, or that is parked.
  std::uint64_t unexpected = 0;  ///< Effects of messages that were not produced, or in a shard that is not theirs.
  std::uint64_t out_of_order = 0;
  std::uint64_t overlapping_terms = 0;   ///< Effects of a term after an effect of a later term of the shard.
  std::uint64_t overlapping_phases = 0;  ///< Phases that began during a phase of another term of the shard.
  std::uint64_t parked = 0;              ///< Dead letters.
  std::uint64_t parked_wrongly = 0;      ///< Those of good messages, second ones of a message, and unknown ones.
  std::uint64_t not_parked = 0;          ///< Bad messages without a dead letter.
  std::uint64_t without_reason = 0;      ///< Dead letters.
  std::uint64_t attempts_over = 0;       ///< Dead letters with more attempts than the limit.

  bool clean() const noexcept {
    return !(lost || duplicated || unexpected || out_of_order || overlapping_terms || overlapping_phases ||
             parked_wrongly || not_parked || without_reason || attempts_over);
  }
};

/// In the order in which the servers accepted them.
boost::asio::awaitable<std::vector<result>> read_results(zkrecipes::session session);

/// Checks the effects and the dead letters: the caller counts `overlapping_phases`. `results` are in the order of
/// acceptance.
audit check(const std::vector<result>& results, const std::vector<zkrecipes::dead_letter>& letters,
            const workload& work, zkrecipes::message_order order, std::int32_t most_attempts = attempts_limit);

/// Fills in the gaps between terms, and the terms that the observer missed.
void complete(std::map<std::int64_t, term_history>& terms, const std::vector<result>& results);

}  // namespace demo
