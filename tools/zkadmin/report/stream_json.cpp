
#include "report/json_values.hpp"
#include "report/stream_report.hpp"

namespace zkadmin {
namespace {

namespace json = boost::json;

json::array text_array(const std::vector<std::string>& texts) {
  json::array all;
  for (const auto& each : texts) all.push_back(json::value(well_formed(each)));
  return all;
}

json::array run_array(const stream_shard_status& shard) {
  json::array all;
  for (const auto& each : shard.runs)
    all.push_back({{"producer", well_formed(each.producer)}, {"epoch", each.epoch}, {"ranges", each.ranges}});
  return all;
}

json::array memory_array(const stream_group_status& group) {
  json::array all;
  for (const auto& each : group.shards)
    all.push_back(json::object{{"shard", each.shard},
                               {"damaged", each.is_damaged},
                               {"last", or_null(each.last)},
                               {"ahead", text_array(each.ahead)},
                               {"runs", run_array(each)},
                               {"names", each.names},
                               {"to_try_again", each.failed},
                               {"record", or_null(each.record)}});
  return all;
}

json::array stream_group_array(const stream_status& stream) {
  json::array all;
  for (const auto& each : stream.groups)
    all.push_back(json::object{
        {"name", well_formed(each.name)}, {"dead_letters", each.dead_letters}, {"shards", memory_array(each)}});
  return all;
}

json::value broker_value(const std::optional<broker_status>& broker) {
  if (!broker) return nullptr;
  json::array depths;
  for (const auto& each : broker->depths)
    depths.push_back(json::object{{"shard", each.shard},
                                  {"group", or_null(each.group)},
                                  {"messages", each.messages},
                                  {"more", each.is_more},
                                  {"oldest_ms", or_null(each.oldest)},
                                  {"consumers", or_null(each.consumers)},
                                  {"missing", each.is_missing}});
  return json::object{{"trouble", or_null(broker->trouble)}, {"away", broker->is_away}, {"depths", std::move(depths)}};
}

json::object stream_object(const stream_status& stream) {
  json::object object;
  object["path"] = well_formed(stream.path);
  object["source"] = stream.source;
  object["name"] = well_formed(stream.name);
  object["shards"] = stream.shards;
  object["producers"] = stream.producers;
  object["groups"] = stream_group_array(stream);
  object["broker"] = broker_value(stream.broker);
  return object;
}

json::value stream_array(const known_streams& streams) {
  if (!streams) return nullptr;
  json::array all;
  for (const auto& each : streams->found) all.push_back(stream_object(each));
  return all;
}

}  // namespace

std::string to_json(const known_streams& streams) {
  json::object document;
  document["schema"] = 1;
  document["complete"] = streams && streams->complete;
  document["streams"] = stream_array(streams);
  document["notes"] = streams ? note_array(streams->notes) : json::array();
  return json_line(document);
}

}  // namespace zkadmin
