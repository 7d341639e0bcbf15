// Batches, positions, and the names of batches and messages.
#include "fuzz/target.hpp"
#include "source/source_letters.hpp"
#include "topic/log_position.hpp"
#include "topic/packed_batch.hpp"
#include "topic/topic_layout.hpp"
#include "topic/topic_letters.hpp"

namespace fuzz::topic_records_target {

using namespace zkrecipes::detail;

void read_batch(std::string_view input) {
  const auto messages = unpack(input);
  if (!messages) return;
  packed_batch again;
  std::size_t bytes = packed_batch().bytes();
  for (const auto& [key, data] : *messages) {
    again.add(key, data);
    bytes += packed_batch::size_of(key, data);
  }
  require(again.bytes() == bytes && again.count() == messages->size(), "the size of a batch is known before");
  require(unpack(again.text()) == messages, "a batch reads the same");
}

void read_position(std::string_view input) {
  const auto position = parse_position(input);
  if (!position) return;
  const auto text = serialize(*position);
  const auto again = parse_position(text);
  require(again && serialize(*again) == text, "a position reads the same");
  const batch_name third{"b-5-0000000003", 3, 5};
  require(position->count_left(third) <= third.count, "no more is left than there is");
  for (std::uint32_t i = 0; i < third.count; ++i)
    require(position->is_settled({3, i}) == again->is_settled({3, i}), "the same messages are settled");
}

void read_topic(std::string_view input) {
  read_batch(input);
  read_position(input);
  for (const auto& name : lines_of(input)) {
    if (const auto place = parse_message_name(name))
      require(parse_message_name(message_name(*place)) == place, "a message has one place");
    shard_of_letter(name, &is_topic_message);
  }
  const auto batches = batches_of(lines_of(input));
  for (std::size_t i = 1; i < batches.size(); ++i)
    require(batches[i - 1].number <= batches[i].number, "batches stand in the order of their numbers");
}

const target known("topic_records", read_topic);

}  // namespace fuzz::topic_records_target
