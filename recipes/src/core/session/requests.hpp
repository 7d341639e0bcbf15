// Requests that are tried again: after a lost connection, and when a server is too busy.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "session/outcomes.hpp"
#include "session/requests_in_flight.hpp"

namespace zkrecipes::detail {

/// The reaction to a connection that breaks before the answer.
enum class retry {
  once,    ///< Report `connection_loss`: only the caller can tell what happened.
  always,  ///< Send it again: doing it twice does no harm.
};

class requests : public requests_in_flight {
 public:
  requests(session_life& whose, answer_listener& told, root_path root)
      : requests_in_flight(whose, told, std::move(root)), life_(whose) {}

  /// Waits for a connection. Errors: `operation_aborted`, `timed_out`, that of `session_life::over`, or the reason why
  /// `bound` ended.
  awaitable<error_code> wait_connected(incarnation_ptr bound, lease_clock::time_point deadline);

  /// Waits for a connection, sends the request and waits for the answer. `policy` decides what happens if the
  /// connection breaks. With `bound` the request is sent in that incarnation only. Errors besides the server's: those
  /// of `wait_connected`, but `connection_loss` instead of `timed_out`, after `retry_policy::limit` or at the deadline.
  awaitable<backend::reply> perform(backend::request what, retry policy, incarnation_ptr bound = nullptr,
                                    lease_clock::time_point deadline = never);

  /// Like `perform` with `retry::always`, for several requests at once, in one round trip: more only if the server
  /// throttles a later one. Returns their answers, in order.
  awaitable<std::vector<backend::reply>> perform_all(std::vector<backend::request> what,
                                                     incarnation_ptr bound = nullptr,
                                                     lease_clock::time_point deadline = never);

  /// Creates a persistent node and its missing parents, in one round trip.
  awaitable<error_code> ensure_path(std::string path, incarnation_ptr bound = nullptr);

  /// Until when an operation that begins now waits for a connection and is tried again.
  lease_clock::time_point retry_deadline() const;

  /// To be called after `connection_loss`, before the same request is sent again.
  awaitable<void> before_retry();

  /// The pauses of one operation whose request was throttled (`reply::throttled`). Such a request was not executed, so
  /// it is sent again, also if it is a write, for as long as the operation may take.
  back_off backoff() const;
  /// Waits for the next of these pauses. An error means that there is no further try: the reason why the session or
  /// `bound` has ended, or `operation_aborted`.
  awaitable<error_code> pause_before_retry(back_off& pause, incarnation_ptr bound);

  /// Waits until the pause is over. False: there is no further try, because the session or `bound` has ended or the
  /// wait was cancelled.
  awaitable<bool> rest(back_off& pause, incarnation_ptr bound = nullptr);

 protected:
  ~requests() = default;

 private:
  awaitable<std::vector<backend::reply>> send_all(const std::vector<backend::request>& what, bool one_by_one,
                                                  incarnation_ptr bound, lease_clock::time_point deadline);
  error_code report_no_connection(const backend::request& what, bool was_sent) const;

  session_life& life_;
};

}  // namespace zkrecipes::detail
