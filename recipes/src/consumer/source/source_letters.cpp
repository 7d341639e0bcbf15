#include "source/source_letters.hpp"

#include "queue/queue_layout.hpp"
#include "shards/shard_name.hpp"

namespace zkrecipes::detail {

dead_letter letter_of(const settlement& each, std::uint32_t shard) {
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

std::optional<std::uint32_t> shard_of_letter(std::string_view item, bool (*is_message)(std::string_view)) {
  const auto slash = item.find('/');
  if (slash == item.npos || !is_message(item.substr(slash + 1))) return std::nullopt;
  return parse_shard_name(item.substr(0, slash));
}

}  // namespace zkrecipes::detail
