#include <zkrecipes/error.hpp>
#include <zkrecipes/session.hpp>
#include <zkrecipes/tls_options.hpp>

#include "backend/worded_errors.hpp"

namespace zkrecipes {

namespace {

const char* text(tls_errc value) {
  switch (value) {
    case tls_errc::unknown_authority: return "the server's certificate is of no authority that is trusted";
    case tls_errc::wrong_name: return "the server's certificate is for another name";
    case tls_errc::expired: return "the server's certificate has expired";
    case tls_errc::not_yet_valid: return "the server's certificate is not valid yet";
    case tls_errc::revoked: return "the server's certificate is revoked";
    case tls_errc::unusable_certificate: return "the server's certificate must not be used, or is malformed";
    case tls_errc::certificate_required: return "the server asks for a certificate";
    case tls_errc::own_authority_unknown: return "the server does not know the authority of our certificate";
    case tls_errc::own_certificate_expired: return "our certificate has expired";
    case tls_errc::own_certificate_revoked: return "the server says that our certificate is revoked";
    case tls_errc::own_certificate_refused:
      return "the server refused our certificate, or went no further when it had asked for it";
    case tls_errc::no_common_version: return "the server speaks other versions of TLS only";
    case tls_errc::not_tls: return "the server did not answer in TLS";
    case tls_errc::handshake_failed: return "TLS failed";
  }
  return "unknown error";
}

struct tls_category final : boost::system::error_category {
  const char* name() const noexcept override { return "zkrecipes.tls"; }
  std::string message(int value) const override { return text(static_cast<tls_errc>(value)); }
};

}  // namespace

const boost::system::error_category& tls_error_category() noexcept {
  static const tls_category instance;
  return instance;
}

error_code make_error_code(tls_errc value) noexcept { return {static_cast<int>(value), tls_error_category()}; }

const char* to_string(failure_reason reason) noexcept {
  switch (reason) {
    case failure_reason::refused: return "refused";
    case failure_reason::unreachable: return "unreachable";
    case failure_reason::silent: return "silent";
    case failure_reason::closed: return "closed";
    case failure_reason::authentication: return "authentication";
    case failure_reason::read_only: return "read_only";
    case failure_reason::session_refused: return "session_refused";
    case failure_reason::unresolved: return "unresolved";
    case failure_reason::no_descriptors: return "no_descriptors";
    case failure_reason::tls: return "tls";
  }
  return "?";
}

namespace {

const char* text(errc value) {
  switch (value) {
    case errc::connection_loss: return "no connection; a write that was sent may have happened";
    case errc::session_expired: return "the server ended the session";
    case errc::closed: return "closed, or released, moved from or made by default";
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
    case errc::lease_lapsed: return "no server confirmed in time that the session lives, so it may have expired";
    case errc::node_removed: return "another client has removed our node";
    case errc::revoked: return "another client has asked the owner to give it up";
    case errc::sequence_exhausted: return "the sequence numbers of the parent node are used up; use a new one";
    case errc::foreign_data: return "the node holds data of another recipe or program; use another path";
    case errc::superseded:
      return "not ours any more: a newer term or producer has taken over, or the claim has ended; nothing was written";
    case errc::timed_out: return "the deadline passed";
    case errc::outcome_unknown: return "the reply was lost; the operation may have happened";
    case errc::career_failed: return "the career threw an exception (consumer_coordinator::failure)";
    case errc::busy:
      return "in use: another client has it, waits for it or keeps changing it, or this object does it already";
    case errc::size_mismatch:
      return "the path was set up with another size (members, permits, shards, slices, buckets, range or period)";
    case errc::full: return "there is no room for more items";
    case errc::no_descriptors: return "the process has no file descriptor left for a connection";
    case errc::too_large:
      return "more bytes than a server takes in a request (ZooKeeper: session_options::jute_maxbuffer)";
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
