// Every error code that an operation of this library can complete with.
#pragma once

#include <string>

#include <boost/system/error_code.hpp>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes {

using error_code = boost::system::error_code;

enum class errc {
  // The connection.
  connection_loss = 1,  ///< Not back within the retry limit, or lost with a write in flight, which may have happened.
  session_expired,      ///< The server ended the session that the operation was bound to.
  closed,               ///< The session object was closed; for an ownership also: it was released.
  auth_failed,          ///< The server refused the credentials; the session object is of no further use.
  no_servers,           ///< None of the host names could be resolved.

  // Answers of the server.
  no_node,                     ///< The node (or its parent, for a create) does not exist.
  node_exists,                 ///< The node to create is there already.
  bad_version,                 ///< The node's version is not the expected one.
  not_empty,                   ///< The node to delete has children.
  no_children_for_ephemerals,  ///< An ephemeral node can not be a parent.
  no_auth,                     ///< The node's ACL forbids it to this session.
  invalid_acl,                 ///< The ACL is empty or malformed.
  bad_arguments,               ///< The path, the name or another argument is malformed; nothing was sent.
  rolled_back,                 ///< This operation of a transaction was undone or not tried: another one failed.
  server_error,                ///< The server could not do it (unknown request, quota, throttled, a fault of its own).

  // Recipes.
  lease_lapsed,        ///< Nothing proved in time that the server still knows the session.
  node_removed,        ///< Another client removed the node of our place in line.
  revoked,             ///< Somebody asked the owner to give it up (`ownership::async_revoked`), or the grace is over.
  sequence_exhausted,  ///< The parent's sequence numbers are about to wrap; use a new parent node.
  foreign_data,        ///< A node holds data that this recipe did not write; use another path.
  superseded,          ///< A newer term or producer has taken over, or our claim has ended: nothing was written.
  timed_out,           ///< The deadline passed.
  outcome_unknown,     ///< The reply was lost and there is no way to tell whether the operation happened.
  career_failed,       ///< The career threw an exception; the coordinator keeps it.
  busy,  ///< In use: another client has it or waits for it, or keeps changing it; or this object does it already.
  size_mismatch,  ///< The path was set up with another size (members, permits, shards, buckets), range or period.
  full,           ///< There is no room for the item: see `queue_options`.

  // New codes come last, so that existing numbers keep their meaning.
  no_descriptors,  ///< The process has no file descriptor left for a connection: the reason of a state; tried again.
  too_large,       ///< More bytes than a server accepts (`session_options::jute_maxbuffer`); nothing was sent.
  read_only,       ///< The server has no quorum and serves reads only: the error of a `connection_failure`.
  declined,  ///< Another call for this key waits, and begins later than this one was made (`gate`, `keyed_limiter`).
  auth_required,  ///< The server serves only sessions with credentials: the error of a `connection_failure`.
};

/// The category of `errc`; its name is "zkrecipes".
const boost::system::error_category& error_category() noexcept;

error_code make_error_code(errc value) noexcept;

/// True if the session object can not be used any more and a new one has to be made.
bool is_fatal(const error_code& error) noexcept;

/// True if an ownership (a place in a line, a term) has ended; false if only an operation on it has failed. Apply it to
/// the reason of an end: `ownership::async_revoked` can complete with `revoked` while the ownership still lasts.
bool is_loss(const error_code& error) noexcept;

}  // namespace zkrecipes

template <>
struct boost::system::is_error_code_enum<zkrecipes::errc> : std::true_type {};
