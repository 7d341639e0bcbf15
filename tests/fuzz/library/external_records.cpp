// How far sources outside of ZooKeeper were consumed: positions in logs, memories of what was settled, and the ids in
// them. The first line of the input is a record. Each of the others is an id, and what happens to it: its first
// character tells.
#include <string>
#include <vector>

#include "external/delivery_memory.hpp"
#include "external/numbered_id.hpp"
#include "external/place_progress.hpp"
#include "fuzz/target.hpp"

namespace fuzz::external_records_target {

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

/// The same memory, with bounds.
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
