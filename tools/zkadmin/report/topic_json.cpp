
#include "report/json_values.hpp"
#include "report/topic_report.hpp"

namespace zkadmin {
namespace {

namespace json = boost::json;

json::array kept_array(const topic_status& topic) {
  json::array all;
  for (const auto& each : topic.kept)
    all.push_back({{"shard", each.shard}, {"batches", each.batches}, {"messages", each.messages}});
  return all;
}

json::array behind_array(const topic_group_status& group) {
  json::array all;
  for (const auto& each : group.behind)
    all.push_back({{"shard", each.shard},
                   {"batches", each.batches},
                   {"messages", each.messages},
                   {"oldest_ms", each.oldest.count()}});
  return all;
}

json::array consumer_group_array(const topic_status& topic) {
  json::array all;
  for (const auto& each : topic.groups) {
    const auto lag = total_of(each.behind);
    all.push_back({{"name", well_formed(each.name)},
                   {"lag", lag.messages},
                   {"lag_batches", lag.batches},
                   {"oldest_ms", lag.messages > 0 ? json::value(lag.oldest.count()) : json::value(nullptr)},
                   {"dead_letters", each.dead_letters},
                   {"behind", behind_array(each)}});
  }
  return all;
}

json::object topic_object(const topic_status& topic) {
  const auto kept = total_of(topic.kept);
  json::object object;
  object["path"] = well_formed(topic.path);
  object["shards"] = topic.shards;
  object["batches"] = kept.batches;
  object["messages"] = kept.messages;
  object["kept"] = kept_array(topic);
  object["groups"] = consumer_group_array(topic);
  return object;
}

json::value topic_array(const known_topics& topics) {
  if (!topics) return nullptr;
  json::array all;
  for (const auto& each : topics->found) all.push_back(topic_object(each));
  return all;
}

}  // namespace

std::string to_json(const known_topics& topics) {
  json::object document;
  document["schema"] = 1;
  document["complete"] = topics && topics->complete;
  document["topics"] = topic_array(topics);
  document["notes"] = topics ? note_array(topics->notes) : json::array();
  return json_line(document);
}

}  // namespace zkadmin
