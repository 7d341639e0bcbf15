// A message between its receipt and its settlement.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <zkrecipes/consumer/message_outcome.hpp>
#include <zkrecipes/consumer/queue_consumer.hpp>
#include <zkrecipes/queue_base.hpp>

#include "delivery/letter_bounds.hpp"
#include "session/scheduler.hpp"

namespace zkrecipes::detail {

struct message_in_hand {
  enum class stage {
    waiting,     ///< It was received, or its next attempt is due.
    working,     ///< `process` runs.
    finished,    ///< `process` has ended, or the message is declined. The next commit takes it along.
    committing,  ///< It is part of the commit in flight.
    resting,     ///< It waits for its next attempt.
  };

  std::uint64_t number = 0;             ///< In the order of receipt.
  std::shared_ptr<const message> what;  ///< A call of `process` may outlive the place in the window.
  std::string lane;
  stage at = stage::waiting;
  bool is_loaded = true;                ///< Its data is here. Else it has to be read again before it is begun.
  bool is_removed = false;              ///< It was removed from its source already (at most once).
  bool takes_part = false;              ///< In duplicate suppression.
  bool is_declined = false;             ///< Another message of its key does its work. It is in no lane.
  bool is_repeat = false;               ///< Its number was processed before: it is settled without effects.
  bool parks_alone = false;             ///< Its key can not be told, so it is parked without one.
  bool is_void = false;                 ///< The present call of `process` began too early: its outcome does not count.
  bool is_at_fault = false;             ///< Others have succeeded between its last two attempts that failed.
  bool has_waited = false;              ///< For the limit, before it was begun.
  std::optional<std::uint64_t> cost{};  ///< See `message_limit::cost`. Nothing: it was not asked for yet.
  std::optional<message_origin> origin{};  ///< With `message_repeats`, once the message is next.
  message_outcome outcome{};
  letter_bounds letter{};  ///< How much the letter of this attempt may have.
  lease_clock::time_point received{};
  lease_clock::time_point begun{};
  lease_clock::time_point rests_until{};
  lease_clock::time_point failed{};       ///< When its last attempt in this term has failed, counted or not.
  lease_clock::time_point counts_from{};  ///< A failed attempt before this does not count.
  std::int64_t first_failed = 0;          ///< See `dead_letter`. 0: no attempt was counted in this term.

  bool is_begun() const noexcept {
    return !is_declined && (at == stage::working || at == stage::finished || at == stage::committing);
  }
};

}  // namespace zkrecipes::detail
