// The dead letters of a topic: those of a queue, with the shard in front of the message's name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <zkrecipes/queue_types.hpp>

#include "delivery/settlement.hpp"

namespace zkrecipes::detail {

/// Its item is `<shard>/<name of the message>`, and its key that of the message.
dead_letter letter_of_topic(const settlement& each, std::uint32_t shard);
/// The shard of such a letter.
std::optional<std::uint32_t> shard_of_letter(std::string_view item);

}  // namespace zkrecipes::detail
