// What a consumer has done, and what it has in hand.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes {

/// The counters begin with the object and go on from term to term; the other figures are of the present term. They are
/// read from memory, and may be a moment old.
struct queue_consumer_status {
  std::uint64_t received = 0;     ///< Messages that were read, each once in a term (again if its key was revived).
  std::uint64_t done = 0;         ///< Messages that were processed and acknowledged.
  std::uint64_t again = 0;        ///< Failed attempts.
  std::uint64_t parked = 0;       ///< Messages that became dead letters.
  std::uint64_t passed_over = 0;  ///< Messages that somebody else removed: their effects did not happen.
  std::uint64_t lost = 0;         ///< At most once: messages that were removed, and whose only attempt has failed.
  std::uint64_t declined = 0;     ///< Messages that were acknowledged unprocessed: `message_duplicates`.
  std::uint64_t repeated = 0;     ///< Messages that were acknowledged unprocessed: `message_repeats`.
  std::uint64_t forgotten = 0;    ///< Producers whose marks were dropped: `message_repeats::most_producers`.
  std::uint64_t evicted = 0;      ///< Calls that were given up: `message_duplicates::safety`. They are in `again`, too.
  std::uint64_t waited = 0;       ///< Calls that were made after a wait for `message_limit`.
  std::uint64_t commits = 0;      ///< Transactions that settled messages.
  std::uint64_t refused = 0;      ///< Transactions that were refused because of one message, and made again without it.
  std::size_t in_hand = 0;        ///< Messages that are being processed.
  std::size_t finished = 0;       ///< Messages that are processed, or declined, and not committed yet.
  std::size_t held_back = 0;      ///< Messages that wait for another one of their key (or, in strict order, for any).
  std::size_t resting = 0;        ///< Messages that wait for their next attempt.
  std::size_t limited = 0;        ///< Messages that could be begun, and wait for `message_limit`.
  std::size_t last_commit = 0;    ///< Messages in the last transaction.
  std::string held_off{};         ///< Why nothing but probes is begun: `message_retry::outage`. Empty: it is not so.
  std::chrono::milliseconds oldest{0};  ///< For how long the oldest message that is not settled has been here.

  friend bool operator==(const queue_consumer_status&, const queue_consumer_status&) = default;
};

}  // namespace zkrecipes
