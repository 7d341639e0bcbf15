// The records of a two-phase commit, and its names.
#include "commit/commit_record.hpp"
#include "commit/transaction_index.hpp"
#include "fuzz/target.hpp"

namespace fuzz::commit_records_target {

using namespace zkrecipes;
using namespace zkrecipes::detail;

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

const target known("commit_records", read_commit);

}  // namespace fuzz::commit_records_target
