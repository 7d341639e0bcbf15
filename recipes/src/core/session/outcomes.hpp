// What an error tells about a request, in one name for each case. The recipes ask these, rather than comparing codes.
#pragma once

#include <boost/asio/error.hpp>

#include <zkrecipes/error.hpp>

namespace zkrecipes::detail {

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

}  // namespace zkrecipes::detail
