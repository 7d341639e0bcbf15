// The commands that tell the planner of a shard group what an operator wants. Each throws `failure`; without
// `read_write` it only shows the requests.
#pragma once

#include "commands/commands.hpp"
#include "settings/group_request.hpp"

namespace zkadmin {

/// The member is to give its shards to the others; the next ends that.
exit_code drain_member(surroundings& around, const settings& wanted, const std::string& path,
                       const group_request& asked, bool read_write);
exit_code undrain_member(surroundings& around, const settings& wanted, const std::string& path,
                         const group_request& asked, bool read_write);

/// The shard is to be owned by the member; the next ends that.
exit_code transfer_shard(surroundings& around, const settings& wanted, const std::string& path,
                         const group_request& asked, bool read_write);
exit_code unpin_shard(surroundings& around, const settings& wanted, const std::string& path, const group_request& asked,
                      bool read_write);

}  // namespace zkadmin
