// The batches of a topic: their nodes, and the names of their messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "source/source_layout.hpp"

namespace zkrecipes::detail {

/// A batch of messages, as its name describes it: `b-<count>-<number>`.
struct batch_name {
  std::string name{};
  std::int32_t number = 0;  ///< Drawn by the server; grows in order of arrival.
  std::uint32_t count = 0;  ///< Its messages.
};

/// Where a message stands in its shard.
struct message_place {
  std::int32_t batch = 0;
  std::uint32_t index = 0;  ///< In the batch.
  friend auto operator<=>(const message_place&, const message_place&) = default;
};

std::string batch_path(const source_layout& where, std::uint32_t shard, std::string_view name);
/// The name of a batch, before the server appends the number.
std::string batch_marker(std::size_t count);
std::optional<batch_name> parse_batch_name(std::string_view name);
/// The batches among the children of a shard, in order. Other nodes are ignored.
std::vector<batch_name> batches_of(const std::vector<std::string>& children);

/// The name of a message, unique in its shard: `<number of the batch>.<index>`.
std::string message_name(const message_place& where);
std::optional<message_place> parse_message_name(std::string_view name);

}  // namespace zkrecipes::detail
