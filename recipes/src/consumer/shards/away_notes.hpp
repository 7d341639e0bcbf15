// The notes of members that have stopped and may come back.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "session/core.hpp"
#include "session/operation.hpp"
#include "shards/group_frame.hpp"
#include "shards/member_record.hpp"

namespace zkrecipes::detail {

class away_notes {
 public:
  /// `changed` is notified when there is another note, or one less.
  away_notes(group_frame_ptr group, condition& changed) : group_(std::move(group)), changed_(changed) {}

  /// Reads the notes if they may have changed. A member leaves its note in the transaction that removes its node, so
  /// the servers have told of the note before they answer that the node is missing: a look behind a list without the
  /// node finds the note. One round trip if there are none.
  awaitable<error_code> look();

  /// Those whose grace is not over, which counts from when we saw the note. `next`: when the next one ends, if that is
  /// earlier.
  std::vector<away_record> waiting(lease_clock::time_point& next) const;
  /// The ids of those whose grace is over.
  std::vector<std::string> over() const;
  /// The version of a note; nothing if there is none.
  std::optional<std::int32_t> version_of(const std::string& id) const;

 private:
  struct note {
    away_record record;
    node_stat stat;
    lease_clock::time_point since;
  };

  awaitable<error_code> read();

  group_frame_ptr group_;
  condition& changed_;
  std::unique_ptr<watch> hint_;
  std::map<std::string, note> notes_;  // by id
};

}  // namespace zkrecipes::detail
