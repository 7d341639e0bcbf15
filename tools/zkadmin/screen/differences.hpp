// The events between two looks at the same cluster.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cluster/status.hpp"
#include "problems/verdict.hpp"
#include "settings/settings.hpp"
#include "terminal/grid.hpp"

namespace zkadmin {

struct change {
  std::string text;
  zkadmin::look look = zkadmin::look::plain;
};

std::vector<change> differences(std::span<const server_status> before, std::span<const server_status> after);
std::vector<change> differences(std::span<const election_status> before, std::span<const election_status> after,
                                const problem_limits& limits = {});
/// Problems that are new, and those that are over. A problem is known by its name and its place: its text may change.
std::vector<change> differences(const problem_list& before, const problem_list& after);

}  // namespace zkadmin
