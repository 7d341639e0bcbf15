// The judgement on access rights and servers by all rules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "problems/problem.hpp"
#include "problems/verdict.hpp"
#include "security/access_reader.hpp"
#include "security/server_exposure.hpp"

namespace zkadmin {

// The problems of what a server tells, and of its ports. Pure functions.

/// `has_tls`: we ourselves speak TLS to it.
problem_list problems_of(const server_exposure& seen, bool has_tls);

/// Whether the server has told anything about its settings.
bool reports_settings(const server_exposure& seen) noexcept;

/// What one look has found. A part that is missing was not asked for, or `trouble` says why it is not known.
struct security_findings {
  std::optional<access_survey> rights{};
  std::vector<server_status> servers{};
  std::vector<server_exposure> exposures{};
  bool is_secure = false;  ///< Our connections speak TLS.
  std::string trouble{};
};

/// A server that tells nothing of its settings is a remark, and no gap: that is how it should be.
verdict judge_security(const security_findings& seen, const wanted_kinds& kinds);

}  // namespace zkadmin
