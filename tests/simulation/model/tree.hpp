// The nodes of one server, and how a change alters them. It uses no clock, no network and no chance.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/node.hpp>
#include <zkrecipes/session_options.hpp>

#include "backend/request.hpp"

namespace zkrecipes::simulation {

// Access control with the schemes `world`, `digest` and `auth`.

struct identity {
  std::string scheme;
  std::string id;
};

using identities = std::vector<identity>;

/// The identities of a connection that has given these credentials.
identities authenticate(const std::vector<credentials>& given);
identity authenticate(const credentials& one);

bool allows(const acl& access, std::int32_t permissions, const identities& who);

/// The ACL as it is stored: entries with `auth` are replaced by the creator's identities. Nothing if it is not valid.
std::optional<acl> completed(const acl& asked, const identities& who);

/// The ACL as a reader gets it: without admin permission the digests are hidden.
acl shown(const acl& access, const identities& who);

/// The owner of a container node, as the server keeps it; clients are not told.
inline constexpr auto container_owner = std::numeric_limits<std::int64_t>::min();

struct node {
  std::string data;
  acl access;
  /// The server's own record: `cversion` counts only the creations of children, and is the sequence number of the
  /// next sequential child.
  node_stat stat;
  std::set<std::string> children;

  /// The record as clients see it: `cversion` counts creations and deletions of children.
  node_stat visible() const;
};

/// One effect of a transaction, with all values decided (path, version, owner): every server applies it in the same
/// way.
struct change {
  enum class kind { create, remove, set, set_acl };
  kind type = kind::set;
  std::string path;
  std::string data;
  acl access;
  std::int32_t version = 0;  ///< The new version of the data or of the ACL.
  std::int64_t owner = 0;    ///< The owner of a node to create.
};

class tree {
 public:
  tree();

  const node* find(std::string_view path) const;
  void apply(const change& what, std::int64_t zxid, std::int64_t time_ms);
  std::vector<std::string> ephemerals(std::int64_t session) const;
  /// Containers that have had children but have none left.
  std::vector<std::string> abandoned_containers() const;
  using map = std::map<std::string, node, std::less<>>;
  const map& nodes() const noexcept { return nodes_; }

  /// A node before a change, to undo the change if the transaction fails half-way. Children are not kept: no change
  /// alters the children of its own node, and a node that is removed has none.
  struct former {
    std::string path;
    bool existed = false;
    std::string data;
    acl access;
    node_stat stat;
    node_stat stat_of_parent;
  };
  former keep(const std::string& path) const;
  /// To be called for the latest change first.
  void restore(former kept);

 private:
  node& at(std::string_view path) { return nodes_.find(path)->second; }

  map nodes_;
};

/// A view into `path`.
std::string_view parent_path(std::string_view path);
/// The part of `path` behind the last slash, a view into `path`.
std::string_view last_name(std::string_view path);

// How the leader turns a request into a transaction and an answer. The checks and their order are those of the real
// server.

struct prepared {
  backend::reply answer;
  std::vector<change> changes;  ///< None if the answer is an error.
};

/// Applies the request to `latest`, the leader's view with everything proposed so far, if it is valid.
prepared prepare(tree& latest, const backend::request& what, const identities& who, std::int64_t session,
                 std::int64_t zxid, std::int64_t time_ms);

/// The answer to a request that changes nothing.
backend::reply read(const tree& from, const backend::request& what, const identities& who);

bool is_read(backend::opcode op);

}  // namespace zkrecipes::simulation
