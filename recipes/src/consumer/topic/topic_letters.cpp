#include "topic/topic_letters.hpp"

#include "session/paths.hpp"
#include "source/source_letters.hpp"
#include "topic/packed_batch.hpp"
#include "topic/topic_layout.hpp"

namespace zkrecipes::detail {

bool is_topic_message(std::string_view name) { return parse_message_name(name).has_value(); }

std::optional<transaction> revival_of(const source_layout& where, std::uint32_t shards, std::string_view group,
                                      const dead_letter& which, std::int32_t version) {
  const auto shard = shard_of_letter(which.item, &is_topic_message);
  const bool is_named = !which.name.empty() && which.name.find('/') == which.name.npos;
  if (!shard || *shard >= shards || !is_named) return std::nullopt;
  packed_batch content;
  content.add(which.key, which.data);
  transaction all;
  all.remove(join(where.dead(group), which.name), version);
  all.create(batch_path(where, *shard, batch_marker(1)), content.text(), create_mode::persistent_sequential);
  return all;
}

}  // namespace zkrecipes::detail
