#include "topic/topic_letters.hpp"

#include "queue/key_mark.hpp"
#include "session/paths.hpp"
#include "shards/shard_name.hpp"
#include "topic/packed_batch.hpp"

namespace zkrecipes::detail {

dead_letter letter_of_topic(const settlement& each, std::uint32_t shard) {
  const auto& what = *each.what;
  dead_letter letter;
  letter.item = shard_name(shard) + '/' + what.name;
  letter.data = what.data.substr(0, each.most_data.value_or(what.data.npos));
  letter.reason = each.reason;
  letter.attempts = what.attempts;
  letter.key = each.most_data ? shown_key(what.key) : what.key;
  letter.missing_bytes = what.data.size() - letter.data.size() + what.key.size() - letter.key.size();
  letter.epoch = each.epoch;
  letter.first_failed = each.first_failed;
  letter.last_failed = each.last_failed;
  return letter;
}

std::optional<std::uint32_t> shard_of_letter(std::string_view item) {
  const auto slash = item.find('/');
  if (slash == item.npos || !parse_message_name(item.substr(slash + 1))) return std::nullopt;
  return parse_shard_name(item.substr(0, slash));
}

std::optional<transaction> revival_of(const topic_layout& where, std::uint32_t shards, std::string_view group,
                                      const dead_letter& which, std::int32_t version) {
  const auto shard = shard_of_letter(which.item);
  const bool is_named = !which.name.empty() && which.name.find('/') == which.name.npos;
  if (!shard || *shard >= shards || !is_named) return std::nullopt;
  packed_batch content;
  content.add(which.key, which.data);
  transaction all;
  all.remove(join(where.dead(group), which.name), version);
  all.create(where.batch(*shard, batch_marker(1)), content.text(), create_mode::persistent_sequential);
  return all;
}

}  // namespace zkrecipes::detail
