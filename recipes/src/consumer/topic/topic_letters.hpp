// The dead letters of a topic, and how one is put back.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <zkrecipes/queue_base.hpp>
#include <zkrecipes/transaction.hpp>

#include "source/source_layout.hpp"

namespace zkrecipes::detail {

/// Whether this can be the name of a message of a topic.
bool is_topic_message(std::string_view name);
/// The transaction that puts a letter back at the end of its shard. Nothing if it is no letter of a topic with so many
/// shards. `version`: of the letter's node.
std::optional<transaction> revival_of(const source_layout& where, std::uint32_t shards, std::string_view group,
                                      const dead_letter& which, std::int32_t version = any_version);

}  // namespace zkrecipes::detail
