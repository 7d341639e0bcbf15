// The records of a shard group: members, absent members, the map, quarantine, the group itself.
#include "fuzz/target.hpp"
#include "shards/group_layout.hpp"
#include "shards/map_reader.hpp"
#include "shards/member_record.hpp"
#include "shards/shard_name.hpp"
#include "shards/shard_quarantine.hpp"

namespace fuzz::shard_records_target {

using namespace zkrecipes::detail;

void require_shards(const shard_set& shards) {
  require(shards.size() <= most_shards, "there are so many shards at most");
  for (const auto each : shards) require(each < most_shards, "a shard has a number of four digits");
  require(shard_set::parse(shards.to_text()) == shards, "a set of shards reads the same");
}

void read_members(const std::string& data) {
  if (const auto who = parse_member_record(data)) {
    require_shards(who->orders.own);
    require_shards(who->orders.expect);
    require(who->orders.plan >= 0 && who->orders.plan <= last_plan && who->grace.count() >= 0, "numbers in bounds");
    const auto text = serialize(*who);
    const auto again = parse_member_record(text);
    require(again && serialize(*again) == text, "a member reads the same");
  }
  if (const auto who = parse_away_record(data)) {
    require_shards(who->own);
    const auto text = serialize(*who);
    const auto again = parse_away_record(text);
    require(again && serialize(*again) == text, "an absent member reads the same");
  }
}

void read_group(std::string_view input) {
  const std::string data(input);
  read_members(data);
  if (const auto map = parse_shard_map(data)) {
    require(!map->owners.empty() && map->owners.size() <= most_shards, "a map has shards");
    for (const auto each : map->owners) require(each <= map->members.size(), "an owner is a member, or nobody");
  }
  const auto size = read_group_data(data);
  require(!size.is_group || (size.shards > 0 && size.shards <= most_shards), "a group has shards");
  const auto quarantine = parse_quarantine(data);
  const auto again = parse_quarantine(serialize(quarantine));
  require(again.deaths == quarantine.deaths && again.last == quarantine.last, "a quarantine reads the same");
  if (const auto shards = shard_set::parse(input)) require_shards(*shards);
  if (const auto number = parse_shard_name(input)) require(shard_name(*number) == data, "a shard has one name");
  if (data.empty()) return;
  const auto name = group_layout::file_name(data);
  require(path_problem("/" + name).empty() && name.find('/') == name.npos, "an id gives the name of a node");
}

const target known("shard_records", read_group);

}  // namespace fuzz::shard_records_target
