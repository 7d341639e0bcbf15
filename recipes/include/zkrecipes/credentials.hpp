// The name and the secret by which servers know a client.
#pragma once

#include <string>
#include <utility>

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

}  // namespace zkrecipes
