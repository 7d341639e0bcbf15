// Every error code that an operation of this library can complete with.
#pragma once

#include <string>

#include <boost/system/error_code.hpp>

namespace zkrecipes {

using error_code = boost::system::error_code;

enum class errc {
  // The connection.
  connection_loss = 1,  ///< The connection broke and was not back within the retry limit; a write may have happened.
  session_expired,      ///< The server ended the session that the operation was bound to.
  closed,               ///< The session object was closed.
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
  server_error,                ///< The server could not do it (unknown request, quota, throttle, or a fault of its own).

  // Recipes.
  lease_lapsed,        ///< Nothing proved in time that the server still knows the session.
  node_removed,        ///< Somebody removed the node that stood for our place.
  revoked,             ///< Somebody asked the owner to give it up (`ownership::async_revoked`), or that has ended it.
  sequence_exhausted,  ///< The parent's sequence numbers are about to wrap; use a new parent node.
  foreign_data,        ///< A node holds data that this recipe did not write; clear it or use another path.
  superseded,          ///< A newer term has begun: nothing was written.
  timed_out,           ///< The deadline passed.
  outcome_unknown,     ///< The reply was lost and there is no way to tell whether the operation happened.
  career_failed,       ///< The career threw an exception; the coordinator keeps it.
  busy,                ///< Somebody else has it, and it was asked for without waiting.
  size_mismatch,       ///< The others at this path came with another size (of a meeting, a semaphore) than ours.
  full,                ///< There is no room for it: see `queue_options`.

  // Behind the others: numbers that were given out stay what they are.
  no_descriptors,  ///< The process has no file descriptor left for a connection. Reason of a state, and tried again.
  too_large,       ///< More bytes than a server takes in one request (`session_options::jute_maxbuffer`); nothing was sent.
};

/// The category of `errc`; its name is "zkrecipes".
const boost::system::error_category& error_category() noexcept;

error_code make_error_code(errc value) noexcept;

/// True where the session object can not be used any more and has to be made anew.
bool is_fatal(const error_code& error) noexcept;

/// True where an ownership (a place in a line, a term) has ended, as opposed to an operation on it having failed. For the
/// reason of an end: what `ownership::async_revoked` completes with can be `revoked` while it is still ours.
bool is_loss(const error_code& error) noexcept;

}  // namespace zkrecipes

template <>
struct boost::system::is_error_code_enum<zkrecipes::errc> : std::true_type {};
