// What the commands about lines and services are asked for: revoke, evict, service.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace zkadmin {

/// The default of `line_request::limit`.
inline constexpr std::chrono::milliseconds default_revocation_limit = std::chrono::minutes(1);

struct line_request {
  std::string kind{};                                ///< Kind of the recipe at the path; empty: recognised.
  std::string of{};                                  ///< `revoke`: a holder's id or node; empty: all holders.
  std::string node{};                                ///< `evict`
  std::string id{};                                  ///< `evict`
  bool in_curators_form = false;                     ///< `revoke`
  bool wait = false;                                 ///< `revoke`: until they have gone.
  bool as_lines = false;                             ///< One JSON object a line.
  std::optional<std::chrono::milliseconds> limit{};  ///< How long to wait for that.
  std::optional<std::chrono::milliseconds> grace{};
  bool force = false;
  std::optional<std::string> yes{};  ///< The path once more, in place of the question.
  std::string instance{};            ///< `service`
};

/// Both throw `failure` (usage) if the options do not go together.
void require_revocation(const line_request& how);
void require_eviction(const line_request& how);

}  // namespace zkadmin
