// A message between its receipt and its settlement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>

#include <boost/container/deque.hpp>
#include <boost/container/flat_set.hpp>

#include <zkrecipes/consumer/message_outcome.hpp>
#include <zkrecipes/consumer/queue_consumer.hpp>
#include <zkrecipes/queue_base.hpp>

#include "session/scheduler.hpp"

namespace zkrecipes::detail {

/// How much of a message its dead letter keeps, if the whole is too large for a request.
/// Each time the letter is refused as too large it is made smaller. First the reason is left out. Then, if the message
/// may be cut, the reason is back, and half a request is for the data, a quarter, and so on, because what else the
/// transaction has, such as a position, can take nearly all of it. At last nothing is left of the data, and the reason
/// is left out again.
struct letter_bounds {
  bool has_reason = true;
  std::optional<std::size_t> most_data{};  ///< See `settlement`.

  /// `is_told`: the letter that was refused has a reason. `may_cut`: see `message_source::traits`. `longest`: bytes of
  /// a request. False: there is no smaller letter.
  bool shrink(bool is_told, bool may_cut, std::size_t longest) noexcept {
    const bool has_data = !most_data || *most_data > 0;
    if (is_told && (!most_data || !has_data)) {
      has_reason = false;
      return true;
    }
    if (!may_cut || !has_data) return false;
    has_reason = true;
    most_data = most_data.value_or(longest) / 2;
    return true;
  }
};

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

/// Whether the messages behind one with this outcome may be begun, in strict order.
inline bool lets_pass(const message_outcome& outcome) {
  return outcome.what() == message_outcome::kind::done || outcome.what() == message_outcome::kind::park;
}

/// By number.
using message_table = std::pmr::map<std::uint64_t, message_in_hand>;
/// Numbers come and go in about their order, so a flat list of them takes no memory, and moves little.
using message_numbers =
    boost::container::flat_set<std::uint64_t, std::less<std::uint64_t>, boost::container::deque<std::uint64_t>>;

/// Null if it has gone.
inline const message_in_hand* find_message(const message_table& all, std::uint64_t number) {
  const auto found = all.find(number);
  return found == all.end() ? nullptr : &found->second;
}

}  // namespace zkrecipes::detail
