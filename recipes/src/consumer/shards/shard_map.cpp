#include "shards/shard_map.hpp"

#include <utility>

#include "format/json_object.hpp"
#include "shards/group_layout.hpp"
#include "shards/shard_set.hpp"

namespace zkrecipes::detail {

std::optional<shard_map> parse_shard_map(const std::string& data) try {
  const auto object = json_object::parse(data);
  if (!object || !object->is("shard_map")) return std::nullopt;
  shard_map map;
  map.plan = object->integer("plan", 0).value();
  const auto count = static_cast<std::size_t>(object->integer("count", 1, most_shards).value());
  const auto members = object->object("members").value();
  const auto names = members.names();
  map.owners.assign(count, names.size());
  for (const auto& name : names) {
    const auto member = members.object(name).value();
    const auto own = shard_set::parse(member.text("own").value()).value();
    for (const auto each : own) {
      if (each < count) map.owners[each] = map.members.size();
    }
    map.members.push_back({member.text("id").value(), name, member.text("data").value_or(std::string())});
  }
  return map;
} catch (const std::bad_optional_access&) {  // a field is missing, has another type, or is out of bounds
  return std::nullopt;
}

}  // namespace zkrecipes::detail
