// The problems of what a server tells, and of its ports. Pure functions.
#pragma once

#include "problems/problem.hpp"
#include "security/server_exposure.hpp"

namespace zkadmin {

/// `has_tls`: we ourselves speak TLS to it.
problem_list problems_of(const server_exposure& seen, bool has_tls);

/// Whether the server has told anything about its settings.
bool tells_settings(const server_exposure& seen) noexcept;

}  // namespace zkadmin
