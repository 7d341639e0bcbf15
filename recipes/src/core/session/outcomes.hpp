// What an error tells about a request and about a run, in one name for each case: the recipes ask these, rather than
// comparing codes. And the pause before the next try.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <boost/asio/error.hpp>

#include <zkrecipes/error.hpp>

#include "session/condition.hpp"

namespace zkrecipes::detail {

/// The pauses after failed tries. They double and have a random part, so that no client runs in a busy loop or in step
/// with others.
class back_off {
 public:
  using milliseconds = std::chrono::milliseconds;
  back_off(milliseconds first, milliseconds most) : first_(first), most_(most) {}

  void reset() { pause_ = milliseconds(0); }
  /// The end of the pause that begins now.
  lease_clock::time_point next(const scheduler& on) {
    pause_ = std::clamp(pause_ * 2, first_, most_);
    const auto jitter = milliseconds(on.world->random() % (static_cast<std::uint64_t>(pause_.count()) + 1));
    return on.now() + pause_ / 2 + jitter;
  }

 private:
  milliseconds first_;
  milliseconds most_;
  milliseconds pause_{0};
};

/// The reply was lost, or the connection was not back in time: a write may have been executed, unless `reply::sent`
/// says that it was never sent.
inline bool is_reply_lost(const error_code& error) { return error == errc::connection_loss; }

/// The incarnation in which the request was to be executed is over. The next one can be tried.
inline bool is_expired(const error_code& error) { return error == errc::session_expired; }

/// The wait was cancelled by its user.
inline bool is_cancelled(const error_code& error) { return error == boost::asio::error::operation_aborted; }

/// A write with this error may have been executed or not: the connection or the incarnation ended before the answer.
inline bool may_have_happened(const error_code& error) { return is_reply_lost(error) || is_expired(error); }

/// No server has answered. Any other error, and success, is an answer of a server.
inline bool is_unanswered(const error_code& error) { return may_have_happened(error) || error == errc::closed; }

/// No further try can succeed: cancelled, closed, or the credentials were refused.
inline bool forbids_retry(const error_code& error) { return is_cancelled(error) || is_fatal(error); }

/// The server could not do it: throttled, a quota, a fault of its own. A later try may succeed.
inline bool is_server_refusal(const error_code& error) { return error == errc::server_error; }

/// Whether a read with this answer leaves open what is there. That the node is missing, or not for us to read, is told.
inline bool is_untold(const error_code& error) { return error && error != errc::no_node && error != errc::no_auth; }

/// Another write came first: the node has another version, exists already or does not exist any more.
inline bool is_write_conflict(const error_code& error) {
  return error == errc::bad_version || error == errc::node_exists || error == errc::no_node;
}

/// Whether a removal with this answer has left the node in place. A later try may succeed, because the right may be
/// granted, the children removed, or the server less busy by then.
inline bool leaves_node(const error_code& answer) {
  return answer == errc::no_auth || answer == errc::not_empty || is_server_refusal(answer);
}

// Which errors end a run that goes on by itself, and which are waited out.

/// Whether people mend what the servers refuse with this error: rights are granted again, a folder is made again.
inline bool is_mended_by_people(const error_code& error) {
  return error == errc::no_auth || error == errc::no_node || error == errc::no_children_for_ephemerals ||
         error == errc::invalid_acl;
}

/// The one rule for all recipes that run until they are stopped. Losses, lost replies and busy servers pass by. What
/// people mend ends a run that has never worked, because its user has to be told of a mistake; behind a first success
/// it is waited out with growing pauses, and shown by the status. All else stays as it is, and ends the run.
inline bool mends(const error_code& error, bool has_worked) {
  if (!error) return true;
  if (forbids_retry(error)) return false;
  const bool passes_by = is_loss(error) || may_have_happened(error) || is_server_refusal(error);
  return passes_by || (has_worked && is_mended_by_people(error));
}

/// Whether servers have answered the last try with an error that is waited out.
inline bool is_refused(const error_code& error) { return is_server_refusal(error) || is_mended_by_people(error); }

}  // namespace zkrecipes::detail
