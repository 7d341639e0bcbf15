// What a consumer has stored about a shard of a source outside of ZooKeeper.
#pragma once

#include <string_view>

#include "cluster/stream_status.hpp"

namespace zkadmin {

/// Reads the data of the node of a shard and a group. Marks it as damaged if it is no record of zkrecipes, or if a
/// field of one that is known has not the form that the library gives it.
stream_shard_status read_memory(std::string_view data);

}  // namespace zkadmin
