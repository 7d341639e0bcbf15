// The commands about waiting lines and services: revoke, evict, service. Each throws `failure`, and without
// `read_write` only shows the requests that it would send.
#pragma once

#include <string>

#include "cluster/recipe_survey.hpp"
#include "commands/commands.hpp"
#include "settings/line_request.hpp"

namespace zkadmin {

/// Asks the holders of the recipe at `path` to give up; with `wait` follows it until they have gone.
exit_code revoke_place(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                       const line_request& how);

/// Takes a waiter out of the line at `path`.
exit_code evict_waiter(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                       const line_request& how);

/// Marks an instance of the service at `path`, so that clients give it no more work; or ends that.
exit_code drain_instance(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                         const std::string& instance);
exit_code undrain_instance(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                           const std::string& instance);

/// What may be at the path: the kind that the command names, else what the settings declare or the nodes tell.
recipe_query query_of_line(const settings& wanted, const line_request& how);

}  // namespace zkadmin
