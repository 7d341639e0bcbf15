#include "topic/topic_transaction.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::size_t most_bytes_of_node = 256 * 1024;  // or one message

}  // namespace

bool topic_transaction::needs_node(std::uint32_t shard, std::size_t bytes) const {
  const auto last = last_of_.find(shard);
  return last == last_of_.end() || nodes_[last->second].content.bytes() + bytes > most_bytes_of_node;
}

std::size_t topic_transaction::more_bytes(std::uint32_t shard, std::string_view key, std::string_view data) const {
  const auto bytes = packed_batch::size_of(key, data);
  return bytes + (needs_node(shard, bytes) ? overhead_ : 0);
}

void topic_transaction::add(std::uint32_t shard, std::string_view key, std::string_view data) {
  const auto bytes = packed_batch::size_of(key, data);
  if (needs_node(shard, bytes)) {
    last_of_[shard] = nodes_.size();
    nodes_.push_back({shard});
    bytes_ += overhead_;
  }
  nodes_[last_of_.at(shard)].content.add(key, data);
  bytes_ += bytes;
  ++count_;
}

void topic_transaction::add_to(transaction& all, const source_layout& where) const {
  for (const auto& each : nodes_) {
    all.create(batch_path(where, each.shard, batch_marker(each.content.count())), each.content.text(),
               create_mode::persistent_sequential);
  }
}

}  // namespace zkrecipes::detail
