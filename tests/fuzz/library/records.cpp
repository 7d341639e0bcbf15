// Records of recipes: what was read is written as a record that reads the same.
#include <array>

#include "balance/pacer.hpp"
#include "barrier/round_view.hpp"
#include "commit/transaction_index.hpp"
#include "election/term_record.hpp"
#include "fuzz/target.hpp"
#include "line/line_spec.hpp"
#include "notes/consumer_notes.hpp"
#include "once/once_per.hpp"
#include "semaphore/semaphore.hpp"
#include "shards/group_layout.hpp"
#include "shards/shard_name.hpp"
#include "shards/shard_quarantine.hpp"
#include "shards/shard_router.hpp"
#include "source/log_source.hpp"
#include "topic/log_position.hpp"
#include "topic/topic_layout.hpp"

namespace fuzz::library_records_targets {

using namespace zkrecipes;
using namespace zkrecipes::detail;

// The records of a two-phase commit, and its names.

void read_records(const std::string& data) {
  if (const auto record = parse_commit(data)) {
    const auto text = serialize(*record);
    const auto again = parse_commit(text);
    require(again && serialize(*again) == text, "a transaction reads the same");
    require(missing_votes(*record, {}).size() == record->participants.size(), "without votes all are missing");
  }
  if (const auto vote = parse_vote(data)) {
    const auto again = parse_vote(serialize(*vote));
    require(again && again->ballot == vote->ballot && again->reason == vote->reason, "a vote reads the same");
  }
}

void read_commit(std::string_view input) {
  const std::string data(input);
  read_records(data);
  if (layout_of(data)) require(layout_of(indexed_data(data)) == commit_layout::indexed, "a path can be marked");
  if (is_transaction_id(input)) require(data.find('/') == data.npos && !data.empty(), "an id is a node's name");
  if (is_participant(input)) require(data.find('/') == data.npos, "a participant is a part of a node's name");
  if (const auto hour = hour_of(data)) require(*hour % 3'600'000 == 0, "a folder stands for an hour");
}

// The records and the names of calls that are made once in a period.

void read_once(std::string_view input) {
  const std::string data(input);
  if (const auto record = parse_once_record(data)) {
    const auto text = serialize(*record);
    const auto again = parse_once_record(text);
    require(again && serialize(*again) == text && again->is_withdrawn == record->is_withdrawn,
            "an intent reads the same");
  }
  if (const auto per = parse_period(data)) {
    require(per->count() > 0, "a period is longer than nothing");
    require(parse_period(serialize_period(*per)) == per, "a period reads the same");
    const once_place place{"/once", *per};
    require(place.end_of(place.period_at(1'700'000'000'000)) > 1'700'000'000'000, "a period ends after its times");
  }
  if (const auto number = once_place::period_named(input))
    require(std::to_string(*number) == data, "a period has one name");
}

// The records of a balance that processes share.

void read_pace(std::string_view input) {
  const std::string data(input);
  if (const auto limit = parse_limit_record(data)) {
    require(limit->range > 0 && limit->limit >= 0, "range and limit are in their bounds");
    const auto again = parse_limit_record(serialize(*limit));
    require(again && again->range == limit->range && again->limit == limit->limit, "a limit reads the same");
  }
  if (const auto who = parse_pace_member_record(data)) {
    const auto again = parse_pace_member_record(serialize(*who));
    require(again && again->id == who->id && again->floor == who->floor, "a member reads the same");
  }
}

// The record of a semaphore and, in the lines behind it, the names of its members.

constexpr std::array<std::string_view, 1> markers{"-permit-"};

void read_permits(std::string_view input) {
  const auto lines = lines_of(input);
  const auto record = parse_permits(lines.front());
  if (record) {
    require(record->size > 0 && record->before >= 0 && record->shrunk_from >= 0, "sizes are in their bounds");
    require(parse_permits(serialize(*record)) == record, "a semaphore reads the same");
  }
  const auto members = members_of(lines, markers);
  for (const auto& each : members) require(weight_of(each.name) >= 0, "a weight is not negative");
  const auto waits = who_waits(members, record ? record->size : 3);
  require(waits.size() == members.size(), "each member waits or holds");
  for (std::size_t i = 0; record && i < members.size(); ++i) who_fills(members, i, *record);
}

// The record of a double barrier and, in the lines behind it, names of its members.

void read_round(std::string_view input) {
  const auto lines = lines_of(input);
  const auto record = parse_round(lines.front());
  if (record) {
    require(record->round >= 0 && record->round <= last_round, "the round is in its bounds");
    require(record->places.empty() || record->places.size() == record->members.size(), "each member has a place");
    const auto text = serialize(*record);
    const auto again = parse_round(text);
    require(again && serialize(*again) == text, "what was written reads the same");
  }
  for (const auto& each : members_of(lines, round_markers())) {
    const auto who = parse_round_member(each);
    require(!who || who->size > 0, "a round has a size");
    if (!who || !record) continue;
    auto more = *record;
    if (!more.places.empty() || more.members.empty()) more.add(*who), require(more.names(*who), "it was added");
  }
}

// The records of a shard group: members, absent members, the map, quarantine, the group itself.

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

// The record of a term, its history, and what its consumers note.

void require_history(const term_record& record) {
  const auto terms = read_history(record, 1'700'000'000'000);
  require(terms.size() <= most_ended_terms, "the history is bounded");
  std::int64_t last = 0;
  for (const auto& each : terms) {
    require(each.epoch > last && each.epoch < record.epoch, "epochs of the history grow, up to the present one");
    last = each.epoch;
  }
  require(beginning_of(record, -1) >= 0, "no term began before 1970");
  if (record.epoch == last_epoch) return;
  auto next = record;
  next.epoch = record.epoch + 1;
  next.history = history_after(record, takeover::clean, 1'700'000'000'000);
  const auto again = parse_record(serialize(next));
  require(again && again->history == next.history, "the history of the next term is believed");
}

void require_notes(const term_record& record) {
  for (const auto& each : {to_json(read_notes(record.notes)), next_notes(record, takeover::died)})
    require(to_json(read_notes(each)) == each, "notes that were written read the same");
}

void read_term(std::string_view input) {
  const std::string data(input);
  const auto record = parse_record(data);
  if (!record) return require(!record_of_death(data), "only a record can tell a death");
  require(record->epoch >= 0 && record->epoch <= last_epoch && record->deaths >= 0, "numbers are in their bounds");
  const auto text = serialize(*record);
  const auto again = parse_record(text);
  require(again && serialize(*again) == text, "what was written reads the same");
  require_history(*record);
  require_notes(*record);
  if (const auto dead = record_of_death(data)) {
    const auto after = parse_record(*dead);
    require(after && after->phase == term_phase::died && after->died_in == record->phase, "a death can be read");
    require(after->epoch == record->epoch && after->leader_id == record->leader_id, "a death changes no other field");
  }
}

// Batches, positions, and the names of batches and messages.

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

const target known[] = {{"commit_records", read_commit}, {"once_record", read_once},   {"pace_record", read_pace},
                        {"permit_record", read_permits}, {"round_record", read_round}, {"shard_records", read_group},
                        {"term_record", read_term},      {"topic_records", read_topic}};

}  // namespace fuzz::library_records_targets
