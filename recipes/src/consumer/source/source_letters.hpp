// The dead letters of a source: those of a queue, with the shard in front of the message's name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <zkrecipes/queue_base.hpp>

#include "delivery/message_source.hpp"

namespace zkrecipes::detail {

/// Its item is `<shard>/<name of the message>`, and its key that of the message. See `settlement::most_data`.
dead_letter letter_of(const settlement& each, std::uint32_t shard);
/// The shard of such a letter. `is_message`: whether a text can be the name of a message. It may have slashes, too.
std::optional<std::uint32_t> shard_of_letter(std::string_view item, bool (*is_message)(std::string_view));

}  // namespace zkrecipes::detail
