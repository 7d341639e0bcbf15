// What all parts of one topic object share. The batches of a topic: their nodes, the names of their messages, and their
// data.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/queue_base.hpp>
#include <zkrecipes/transaction.hpp>

#include "source/source_core.hpp"

namespace zkrecipes::detail {

struct topic_frame : source_frame {
  topic_options options;
};

using topic_frame_ptr = std::shared_ptr<const topic_frame>;

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

/// The data of a batch: netstrings (`<length>:<bytes>,`), first a mark, then key and data of each message in turn.
class packed_batch {
 public:
  packed_batch();

  /// Bytes of a message in a batch.
  static std::size_t size_of(std::string_view key, std::string_view data);

  void add(std::string_view key, std::string_view data);
  std::size_t count() const noexcept { return count_; }
  /// The length of the data.
  std::size_t bytes() const noexcept { return text_.size(); }
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
  std::size_t count_ = 0;
};

/// Key and data of each message; they refer to the text. Nothing if the text is not that of a batch.
using unpacked_batch = std::vector<std::pair<std::string_view, std::string_view>>;
std::optional<unpacked_batch> unpack(std::string_view text);

// The dead letters of a topic, and how one is put back.

/// Whether this can be the name of a message of a topic.
bool is_topic_message(std::string_view name);
/// The transaction that puts a letter back at the end of its shard. Nothing if it is no letter of a topic with so many
/// shards. `version`: of the letter's node.
std::optional<transaction> revival_of(const source_layout& where, std::uint32_t shards, std::string_view group,
                                      const dead_letter& which, std::int32_t version = any_version);

}  // namespace zkrecipes::detail
