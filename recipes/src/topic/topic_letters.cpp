#include "topic/topic_letters.hpp"

#include "shards/shard_name.hpp"
#include "topic/topic_layout.hpp"

namespace zkrecipes::detail {

dead_letter letter_of_topic(const settlement& each, std::uint32_t shard) {
  dead_letter letter;
  letter.item = shard_name(shard) + '/' + each.what->name;
  letter.data = each.what->data;
  letter.reason = each.reason;
  letter.attempts = each.what->attempts;
  letter.key = each.what->key;
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

}  // namespace zkrecipes::detail
