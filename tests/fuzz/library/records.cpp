// What recipes keep in nodes: records, and names.
#include <array>
#include <string>
#include <vector>

#include "balance/pacer.hpp"
#include "barrier/round_view.hpp"
#include "commit/transaction_index.hpp"
#include "delivery/delivery_repeats.hpp"
#include "election/term_record.hpp"
#include "external/delivery_memory.hpp"
#include "external/place_progress.hpp"
#include "fuzz/target.hpp"
#include "line/line_spec.hpp"
#include "notes/consumer_notes.hpp"
#include "once/once_per.hpp"
#include "queue/queue_layout.hpp"
#include "semaphore/semaphore.hpp"
#include "shards/group_layout.hpp"
#include "shards/shard_name.hpp"
#include "shards/shard_quarantine.hpp"
#include "shards/shard_router.hpp"
#include "source/log_source.hpp"
#include "topic/log_position.hpp"
#include "topic/topic_layout.hpp"

namespace fuzz::external_records_target {

// How far sources outside of ZooKeeper were consumed: positions in logs, memories of what was settled, and the ids in
// them. The first line of the input is a record. Each of the others is an id, and what happens to it: its first
// character tells.

using namespace zkrecipes::detail;

using line_list = std::vector<std::string>;

constexpr std::size_t most_ids = 3;

std::string require_position(const place_position& position) {
  auto text = serialize(position);
  const auto again = parse_place_position(text);
  require(again && serialize(*again) == text, "a position reads the same");
  return text;
}

/// Consumes a log from the position.
void go_on(const place_position& from, const line_list& ids) {
  place_progress progress(from);
  for (const auto& each : ids) {
    if (each.size() < 2) continue;
    const auto place = each.substr(1);
    if (each[0] == 's') progress.settle(place);
    if (each[0] == 'f') progress.fail(place, 1'700);
    if (each[0] != 's' && each[0] != 'f' && progress.open(place))
      require(progress.last() != place, "a place that is settled is not opened again");
  }
  require_position(progress.position());
}

void read_position(const std::string& record, const line_list& ids) {
  const auto position = parse_place_position(record);
  if (!position) return;
  for (const auto& each : position->ahead) require(!each.empty() && each != position->last, "a place is settled once");
  require_position(*position);
  go_on(*position, ids);
}

std::string require_memory(const delivery_memory& memory) {
  auto text = serialize(memory);
  const auto again = parse_delivery_memory(text);
  require(again && serialize(*again) == text, "a memory reads the same");
  return text;
}

void change(delivery_memory& memory, const std::string& id, char how) {
  if (how == 'f') {
    const auto before = memory.failed(id).count;
    memory.fail(id, 1'700);
    require(memory.failed(id).count >= before, "failed attempts are counted");
  } else if (how == 'o') {
    memory.forget(id);
    require(memory.failed(id).count == 0, "what is forgotten has no failed attempts");
  } else {
    memory.settle(id, static_cast<unsigned char>(how) % 4);
    require(memory.knows(id), "what is settled is known");
    require(memory.failed(id).count == 0, "what is settled has no failed attempts");
  }
}

void read_memory(const std::string& record, const line_list& ids) {
  auto memory = parse_delivery_memory(record);
  if (!memory) return;
  for (const auto& each : memory->names()) require(memory->knows(each), "a name is known");
  for (const auto& each : memory->failed_names())
    require(memory->failed(each).count > 0, "a failed message has failed");
  require_memory(*memory);
  for (const auto& each : ids)
    if (each.size() > 1) change(*memory, each.substr(1), each[0]);
  require_memory(*memory);
}

/// Does what `read_memory` does, for a memory with bounds.
void remember(const std::string& record, const line_list& ids) {
  remembered_ids memory(most_ids);
  if (!memory.load(record)) return;
  for (const auto& each : ids) {
    if (each.empty()) continue;
    memory.settle(each);
    require(memory.knows(each), "an id that is settled is known");
    const auto read = parse_delivery_memory(memory.record());
    require(read.has_value(), "a record can be read");
  }
}

/// Texts of which there is one for each meaning.
void read_line(const std::string& line) {
  if (const auto id = parse_numbered_id(line)) require(to_string(*id) == line, "an id is written as it was read");
  if (const auto number = parse_plain_number(line)) require(std::to_string(*number) == line, "a number has one text");
  if (const auto run = settled_run::parse(line)) {
    require(run->to_text() == line, "a run is written as it was read");
    require(run->count_ranges() > 0 && !run->has(0), "a run has numbers, and 0 is none");
  }
  settled_runs runs;
  if (!runs.append(line)) return;
  require(runs.texts() == line_list{line}, "the run of a producer is written as it was read");
  settled_runs twice = runs;
  require(!twice.append(line), "a producer has one run in an epoch");
}

/// A number that is added is there, and the others stay.
void add_to_run(const std::string& line, const std::string& number) {
  auto run = settled_run::parse(line);
  const auto what = parse_plain_number(number);
  if (!run || !what || *what == 0) return;
  const bool was_there = run->has(*what);
  const bool had_next = run->has(*what + 1);
  run->add(*what);
  require(!was_there || run->to_text() == line, "a number that is there changes nothing");
  require(run->has(*what) && run->has(*what + 1) == had_next, "one number is added");
  const auto again = settled_run::parse(run->to_text());
  require(again && again->to_text() == run->to_text(), "a run reads the same");
}

void read_external(std::string_view input) {
  auto lines = lines_of(input);
  const auto record = lines.front();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    read_line(lines[i]);
    if (i > 0) add_to_run(lines[i - 1], lines[i]);
  }
  lines.erase(lines.begin());
  read_position(record, lines);
  read_memory(record, lines);
  remember(record, lines);
}

const target known("external_records", read_external);

}  // namespace fuzz::external_records_target

namespace fuzz::library_queues_targets {

// The nodes of queues.

using namespace zkrecipes::detail;
using namespace zkrecipes;

// The names of a queue's nodes, for the three kinds of queues.

void read_items(queue_kind kind, const std::vector<std::string>& names) {
  const queue_layout layout(kind, "/q");
  const auto items = layout.items_of(names);
  for (std::size_t i = 1; i < items.size(); ++i)
    require(!goes_first(items[i], items[i - 1]), "items stand in their order");
  for (const auto& each : items) {
    const auto again = layout.parse(each.name);
    require(again && again->rank == each.rank && again->sequence == each.sequence, "an item has one place");
    require(!layout.is_known(each.name), "an item is no other node of the queue");
  }
  require(items.empty() || !layout.is_strange(names), "a queue with items is not strange");
}

void read_names(std::string_view input) {
  const auto names = lines_of(input);
  for (const auto kind : {queue_kind::fifo, queue_kind::priority, queue_kind::delayed}) read_items(kind, names);
  for (const auto& each : names) {
    const auto mark = mark_of_letter(each);
    require(mark.empty() || is_mark(mark), "a letter belongs to a mark");
  }
  require(is_mark(mark_of(input)), "each key has a mark");
  const auto shown = read_mark(write_mark(input));
  require(shown && *shown == shown_key(input), "the key of a mark reads the same");
  read_mark(input);
}

// Dead letters, and the numbers of producers that were processed.

void read_dead(std::string_view input) {
  const auto letter = read_letter(input);
  if (!letter) return;
  const auto again = read_letter(write_letter(*letter));
  require(again.has_value(), "a letter can be read");
  require(again->data == letter->data && again->item == letter->item, "a letter keeps its item");
  require(again->missing_bytes == letter->missing_bytes, "a letter that is cut is not taken for whole");
  require(again->attempts == letter->attempts && again->epoch == letter->epoch, "a letter keeps its numbers");
}

void read_marks(std::string_view input) {
  auto marks = producer_marks::parse(input);
  if (!marks) return;
  const auto text = marks->to_text();
  auto again = producer_marks::parse(text);
  require(again && again->to_text() == text, "marks read the same");
  const message_origin next{"p", 17};
  if (marks->has_processed(next)) return;
  marks->record_processed(next);
  require(marks->has_processed(next), "what was noted is there");
  require(producer_marks::parse(marks->to_text()).has_value(), "marks can be read when a number was added");
}

void read_queue(std::string_view input) {
  read_dead(input);
  read_marks(input);
}

const target known[] = {{"queue_names", read_names}, {"queue_records", read_queue}};

}  // namespace fuzz::library_queues_targets

namespace fuzz::library_members_targets {

// Members of lines: the data and the names of their nodes.

using namespace zkrecipes::detail;
using namespace std::chrono_literals;

// The data of a member of a line: any text, or a record with requests.

void read_data(std::string_view input) {
  const std::string data(input);
  require(grace_of(data) >= 0ms, "a grace is not negative");
  if (is_revocable(data)) {
    const auto asked = with_revocation(data, 1500ms);
    require(asks_revocation(asked), "a request can be read");
    require(grace_of(asked) <= 1500ms, "the shorter grace stays");
    const bool has_id = read_member(data)->text("id").has_value();  // else the whole data stands for it
    require(!has_id || member_id(asked) == member_id(data), "a request keeps the id");
    require(is_shared(with_shared(asked)), "the mark of a member that lets others pass can be read");
  }
  require(member_id(id_data(data)) == data || data.empty(), "an id is read as it was written");
  require(member_id(revocable_data(data)) == data, "an id is read from a record as it was written");
  require(!asks_revocation(id_data(data)), "an id is no request");
  require(is_of_ours(candidate_data(data, true)) && is_awaiting(candidate_data(data, true)), "a candidate is ours");
  require(!keeps_record(campaigner_data(data)), "a campaigner keeps no record");
  is_of_ours(data), keeps_record(data), is_awaiting(data);
}

// The names of nodes in a line, and strangers among them; the first line has the number of the marker.

constexpr std::array<std::string_view, 3> of_election{"latch-", "lock-", "__lock__"};
constexpr std::array<std::string_view, 4> of_both{"__READ__", "__rlock__", "__WRIT__", "__lock__"};
constexpr std::array<std::string_view, 1> of_members{"member-"};

void read_line(const std::vector<std::string>& names, std::span<const std::string_view> markers) {
  const auto members = members_of(names, markers);
  require(members.size() <= names.size(), "no member without a node");
  for (std::size_t i = 1; i < members.size(); ++i)
    require(is_exhausted(members[i].sequence) || is_exhausted(members[0].sequence) ||
                members[i - 1].sequence <= members[i].sequence,
            "members stand in the order of their numbers");
  for (const auto& each : members)
    require(parse_sequence(each.name, markers) == each.sequence, "a member has the number of its name");
  require(strangers_among(names, markers).size() + members.size() <= names.size(), "a member is no stranger");
}

void read_names(std::string_view input) {
  const auto names = lines_of(input);
  read_line(names, of_election);
  read_line(names, of_both);
  read_line(names, of_members);
}

const target known[] = {{"member_data", read_data}, {"node_names", read_names}};

}  // namespace fuzz::library_members_targets

namespace fuzz::library_records_targets {

// Records of recipes: what was read is written as a record that reads the same.

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
