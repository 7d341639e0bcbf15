// How the leader turns a request into a transaction and an answer. The checks and their order are those of the real
// server.
#pragma once

#include <vector>

#include "backend/request.hpp"
#include "model/access.hpp"
#include "model/tree.hpp"

namespace zkrecipes::simulation {

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
