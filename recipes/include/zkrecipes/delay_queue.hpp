// A queue whose items can be taken from a certain time on.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <zkrecipes/queue_base.hpp>

namespace zkrecipes {

/// An item to put, and how long it must not be taken.
struct delayed {
  std::string data;
  std::chrono::milliseconds delay{0};
};

/// Items are taken in the order of the times from which they may be taken; items of the same time in order of arrival.
///
/// The clock is that of the ensemble's leader, as it stamps what is written; no client's wall clock counts. A claim
/// carries the leader's time: an item whose claim is stamped before the item's time is given back at once, so no item
/// is handed out early. An item is late by the round trip and, after the leader's clock was set forward, by up to a
/// minute. When the leader changes, the clock of the next leader counts.
///
/// Items are nodes `at-<milliseconds since 1970, 16 digits>-<number>`. Curator's DistributedDelayQueue has another
/// format, and goes by the clients' clocks. Thread safety: safe.
class delay_queue : public queue_base {
 public:
  delay_queue() = default;  ///< Stands for nothing, like one that was moved from: operations complete with `closed`.
  /// \throws std::invalid_argument naming the bad path or option.
  delay_queue(session over, std::string path, queue_options options);
  delay_queue(session over, std::string path) : delay_queue(std::move(over), std::move(path), queue_options()) {}

  /// Puts one item that can be taken `delay` after now: 0 to 100 years, counted from the latest time that the leader's
  /// clock can show. Otherwise as `queue::async_put`.
  ///
  /// Signature: `void(error_code, std::string)`, the name.
  /// Errors: as `queue::async_put`; `bad_arguments` also where the delay is out of bounds.
  /// Cancellation: as `queue::async_put`.
  /// Thread safety: as the class says.
  /// Cost: as `queue::async_put`, and another round trip about once a minute and for each new connection (a write, to
  /// learn the leader's time; the first write at a path takes 3).
  template <token_for<std::string> Token = default_token>
  auto async_put(std::string data, time_span<std::chrono::milliseconds> delay, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::string)>(token, &start_put, get_queue(), std::move(data), delay);
  }

  /// Puts all items, each with its own delay, or none of them; bounds as `queue::async_put_many` and `async_put`.
  ///
  /// Signature: `void(error_code, std::vector<std::string>)`, the names.
  /// Errors: as `queue::async_put_many`; `bad_arguments` also where a delay is out of bounds.
  /// Cancellation: as `queue::async_put_many`.
  /// Thread safety: as the class says.
  /// Cost: as `async_put`, for all items together.
  template <token_for<std::vector<std::string>> Token = default_token>
  auto async_put_many(std::vector<delayed> items, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::vector<std::string>)>(token, &start_put_many, get_queue(),
                                                                        std::move(items));
  }

  /// Puts one item that can be taken when the leader's clock shows `when`: from 1970 on, rounded up to a millisecond.
  /// Otherwise as `queue::async_put`.
  ///
  /// Signature: `void(error_code, std::string)`, the name.
  /// Errors: as `queue::async_put`; `bad_arguments` also where `when` is before 1970.
  /// Cancellation: as `queue::async_put`.
  /// Thread safety: as the class says.
  /// Cost: as `queue::async_put`: the leader's time is not asked for.
  template <token_for<std::string> Token = default_token>
  auto async_put_at(std::string data, std::chrono::system_clock::time_point when, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::string)>(token, &start_put_at, get_queue(), std::move(data), when);
  }

 private:
  static void start_put(detail::handler_for<void(error_code, std::string)>, core_ptr, std::string,
                        std::chrono::milliseconds);
  static void start_put_many(detail::handler_for<void(error_code, std::vector<std::string>)>, core_ptr,
                             std::vector<delayed>);
  static void start_put_at(detail::handler_for<void(error_code, std::string)>, core_ptr, std::string,
                           std::chrono::system_clock::time_point);
};

}  // namespace zkrecipes
