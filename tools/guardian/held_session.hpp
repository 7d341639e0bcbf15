// The sessions of a process that are held, and the terms that it leads in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "backend/guardian/guardian_message.hpp"
#include "user_account.hpp"

namespace guardian {

/// `told_by`: the number of the connection that told it last.
struct held_term {
  zkrecipes::backend::guarded_term term;
  std::uint64_t told_by = 0;
};

struct held_session {
  zkrecipes::backend::guarded_session session;
  std::string client;
  std::uint64_t told_by = 0;
  std::map<std::pair<std::string, std::string>, held_term> terms{};  ///< By record and node.
};

/// An estimate of the memory that it takes.
std::size_t size_of(const zkrecipes::backend::guarded_session& session);
std::size_t size_of(const zkrecipes::backend::guarded_term& term);
/// What the account of its user is charged for the session and its terms.
holding holding_of(const held_session& session);

}  // namespace guardian
