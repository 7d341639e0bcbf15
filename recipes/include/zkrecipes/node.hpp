// Metadata, kinds and access rights of a node.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes {

/// Digest credentials. The secret is kept in memory only: it is never logged and never part of an error. The user is
/// not empty and has no ':'; neither has a NUL byte. It has constructors so that it can be written in braces in a
/// `co_await` expression: see "Temporaries in `co_await`" in docs/operations.md.
struct credentials {
  credentials() = default;
  credentials(std::string who, std::string secret) : user(std::move(who)), password(std::move(secret)) {}

  std::string user;
  std::string password;
};

/// The metadata of a node, as in ZooKeeper's `Stat`. Times are milliseconds since 1970 by the server's clock.
struct node_stat {
  std::int64_t czxid = 0;  ///< Transaction that created the node. It grows over the ensemble's life: a fencing token.
  std::int64_t mzxid = 0;  ///< Transaction that last changed the data.
  std::int64_t pzxid = 0;  ///< Transaction that last added or removed a child.
  std::int64_t ctime = 0;
  std::int64_t mtime = 0;
  std::int32_t version = 0;          ///< Number of changes of the data.
  std::int32_t cversion = 0;         ///< Number of changes of the children.
  std::int32_t aversion = 0;         ///< Number of changes of the ACL.
  std::int64_t ephemeral_owner = 0;  ///< Session that the node belongs to, or 0.
  std::int32_t data_length = 0;
  std::int32_t num_children = 0;

  friend bool operator==(const node_stat&, const node_stat&) = default;
};

enum class create_mode {
  persistent,
  ephemeral,
  persistent_sequential,
  ephemeral_sequential,
  container,  ///< Removed by the server some time after its last child; not allowed in a transaction.
};

/// Accept any version.
inline constexpr std::int32_t any_version = -1;

/// Permission bits of an ACL entry.
enum permission : std::int32_t {
  perm_read = 1,
  perm_write = 2,
  perm_create = 4,
  perm_delete = 8,
  perm_admin = 16,
  perm_all = 31,
};

/// One entry of an access control list; by default everybody may do everything.
struct acl_entry {
  std::int32_t permissions = perm_all;
  std::string scheme = "world";
  std::string id = "anyone";

  friend bool operator==(const acl_entry&, const acl_entry&) = default;
};

using acl = std::vector<acl_entry>;

/// Everybody may do everything.
acl open_acl();

/// Only clients with the credentials of the creator may do anything: with its digests or its certificate. A creator
/// without any gets `invalid_acl`.
acl creator_acl();

/// An entry for clients with any of the identities of the creator, which the server writes in its place. A creator
/// without any gets `invalid_acl`.
/// \throws std::invalid_argument if `permissions` is not a sum of values of `permission`.
acl_entry auth_entry(std::int32_t permissions = perm_all);

/// An entry for clients with these digest credentials. The ACL has only their hash (`digest_id`), so that the creator
/// can name another user.
/// \throws std::invalid_argument for bad permissions, or credentials that no session can have; it shows no password.
acl_entry digest_entry(const credentials& user, std::int32_t permissions = perm_all);

/// The same as the id of a `digest` entry, "user:hash" with the hash in base64: SHA-1 of "user:password", which is what
/// servers use unless their `DigestAuthenticationProvider.digestAlg` is set.
/// \throws std::invalid_argument as `digest_entry` does.
std::string digest_id(const credentials& user);

/// An entry for clients that show a certificate with this subject. Servers compare it letter by letter with what Java
/// makes of the certificate, such as "CN=app,OU=ops,O=Example": the most specific part first, no blanks around '=' and
/// ','. `openssl x509 -noout -subject -nameopt RFC2253,-esc_msb` prints most of them so: docs/tls.md. Other attributes
/// than CN, OU, O, L, ST, C, STREET, DC and UID are numbers there: "1.2.840.113549.1.9.1=#16...".
/// \throws std::invalid_argument for bad permissions, or a subject that servers could not have written so.
acl_entry x509_entry(std::string subject, std::int32_t permissions = perm_all);

/// An entry for clients that connect from this address, or from these as "10.1.0.0/16". A proxy or an address
/// translation is the client for the servers, and the address is no secret: do not rest on it alone. ZooKeeper 3.8.0
/// answers an IPv6 address with `invalid_acl`.
/// \throws std::invalid_argument for bad permissions, or what is neither a numeric address nor a CIDR range.
acl_entry ip_entry(std::string address, std::int32_t permissions = perm_all);

/// The result of a read of a node.
struct node_data {
  std::string data;
  node_stat stat;
};

/// The result of a read of the children of a node.
struct node_children {
  std::vector<std::string> names;  ///< In no order.
  node_stat stat;
};

/// The result of a create.
struct created_node {
  std::string path;  ///< With the sequence number, if the mode has one.
  node_stat stat;
};

}  // namespace zkrecipes
