#include <zkrecipes/error.hpp>

#include "backend/worded_errors.hpp"

namespace zkrecipes {

namespace {

const char* text(errc value) {
  switch (value) {
    case errc::connection_loss: return "no connection; a write that was sent may have happened";
    case errc::session_expired: return "the server ended the session";
    case errc::closed: return "closed";
    case errc::auth_failed: return "the server refused the credentials";
    case errc::no_servers: return "no host name could be resolved";
    case errc::no_node: return "the node, or the parent of the one to create, does not exist";
    case errc::node_exists: return "the node exists already";
    case errc::bad_version: return "the node has another version";
    case errc::not_empty: return "the node has children";
    case errc::no_children_for_ephemerals: return "an ephemeral node can not have children";
    case errc::no_auth: return "the node's ACL forbids it";
    case errc::invalid_acl: return "the ACL is empty or malformed";
    case errc::bad_arguments: return "malformed path or argument, or one that is too long";
    case errc::rolled_back: return "undone or not tried, because another operation of the transaction failed";
    case errc::server_error: return "the server could not do it";
    case errc::lease_lapsed: return "nothing proved in time that the session lives";
    case errc::node_removed: return "another client has removed our node";
    case errc::revoked: return "another client has asked the owner to give it up";
    case errc::sequence_exhausted: return "the sequence numbers of the parent node are used up; use a new one";
    case errc::foreign_data: return "the node holds data of another recipe or program; clear it or use another path";
    case errc::superseded: return "a newer owner has taken over; nothing was written";
    case errc::timed_out: return "the deadline passed";
    case errc::outcome_unknown: return "the reply was lost; the operation may have happened";
    case errc::career_failed: return "the career threw an exception (consumer_coordinator::failure)";
    case errc::busy: return "another client has it";
    case errc::size_mismatch: return "the other clients at this path use another size";
    case errc::full: return "there is no room for more items";
    case errc::no_descriptors: return "the process has no file descriptor left for a connection";
    case errc::too_large: return "more bytes than a server takes in one request (session_options::jute_maxbuffer)";
    case errc::read_only: return "the server serves reads only";
    case errc::auth_required: return "the server serves only sessions with credentials of a scheme that it demands";
    case errc::declined: return "declined, because another call for the same key is going to be processed";
  }
  return "unknown error";
}

struct category final : boost::system::error_category {
  constexpr category() noexcept : error_category(backend::error_category_number) {}
  const char* name() const noexcept override { return "zkrecipes"; }
  std::string message(int value) const override { return text(static_cast<errc>(value)); }
};

}  // namespace

const boost::system::error_category& error_category() noexcept {
  static const category instance;
  return instance;
}

error_code make_error_code(errc value) noexcept { return {static_cast<int>(value), error_category()}; }

bool is_fatal(const error_code& error) noexcept { return error == errc::closed || error == errc::auth_failed; }

bool is_loss(const error_code& error) noexcept {
  return error == errc::session_expired || error == errc::lease_lapsed || error == errc::node_removed ||
         error == errc::revoked || error == errc::closed;
}

}  // namespace zkrecipes
