// Access control with the schemes `world`, `digest` and `auth`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <zkrecipes/node.hpp>
#include <zkrecipes/session_options.hpp>

namespace zkrecipes::simulation {

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

}  // namespace zkrecipes::simulation
