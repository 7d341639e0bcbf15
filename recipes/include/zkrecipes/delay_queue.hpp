// A queue whose items can be taken from some time on.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <zkrecipes/queue_base.hpp>

namespace zkrecipes {

struct delayed {
  std::string data;
  std::chrono::milliseconds delay{0};
};

/// In order of the time from which they may be taken; of one time, in order of arrival.
///
/// The clock is that of the ensemble's leader, as it stamps what is written; no client's wall clock counts. A claim
/// carries the leader's time: an item whose claim is stamped before its time is given back at once, so none is handed
/// out early. It is late by the round trip, and, after the leader's clock was set forward, by up to a minute. Where the
/// leader changes, the next one's clock rules.
///
/// Items are nodes `at-<milliseconds since 1970, 16 digits>-<number>`; Curator's DistributedDelayQueue has another
/// format, and goes by the clients' clocks. Thread safety: safe.
class delay_queue : public queue_base {
 public:
  /// \throws std::invalid_argument naming the bad path or option.
  delay_queue(session over, std::string path, queue_options options);
  delay_queue(session over, std::string path) : delay_queue(std::move(over), std::move(path), queue_options()) {}

  /// As `queue::async_put`; the item can be taken `delay` after now. One round trip, and another one about once a minute
  /// to learn the leader's time. Delay: 0 to 100 years, else `bad_arguments`.
  template <class Token>
  auto async_put(std::string data, time_span<std::chrono::milliseconds> delay, Token&& token) {
    return detail::initiate<void(error_code, std::string)>(token, &start_put, get_queue(), std::move(data), delay);
  }

  /// As `queue::async_put_many`; each can be taken its delay after now. Round trips and delays as above.
  template <class Token>
  auto async_put_many(std::vector<delayed> items, Token&& token) {
    return detail::initiate<void(error_code, std::vector<std::string>)>(token, &start_put_many, get_queue(),
                                                                        std::move(items));
  }

  /// As `async_put`; the item can be taken when the leader's clock shows `when`: from 1970 on, else `bad_arguments`.
  template <class Token>
  auto async_put_at(std::string data, std::chrono::system_clock::time_point when, Token&& token) {
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
