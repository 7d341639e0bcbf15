// The dead letters of a topic: those of a queue, with the shard in front of the message's name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <zkrecipes/queue_base.hpp>
#include <zkrecipes/transaction.hpp>

#include "delivery/settlement.hpp"
#include "topic/topic_layout.hpp"

namespace zkrecipes::detail {

/// Its item is `<shard>/<name of the message>`, and its key that of the message. See `settlement::most_data`.
dead_letter letter_of_topic(const settlement& each, std::uint32_t shard);
/// The shard of such a letter.
std::optional<std::uint32_t> shard_of_letter(std::string_view item);
/// The transaction that puts a letter back at the end of its shard. Nothing if it is no letter of a topic with so many
/// shards. `version`: of the letter's node.
std::optional<transaction> revival_of(const topic_layout& where, std::uint32_t shards, std::string_view group,
                                      const dead_letter& which, std::int32_t version = any_version);

}  // namespace zkrecipes::detail
