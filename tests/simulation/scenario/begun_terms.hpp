// The terms that each session has begun, as a guardian is told of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "election/term_record.hpp"
#include "guardian/dead_session.hpp"
#include "model/ensemble.hpp"
#include "shards/shard_seat.hpp"

namespace zkrecipes::simulation {

/// Terms that are over stay among them: a guardian may not have heard of their end.
class begun_terms {
 public:
  using all_of_one = std::vector<detail::held_term>;

  /// The record at this path may have been written. Its leaders sit in the folder `seats`.
  void committed(const entry& what, const std::string& path, const std::string& seats) {
    for (const auto& each : what.changes) {
      if (each.type != change::kind::set || each.path != path) continue;
      const auto record = detail::parse_record(each.data);
      if (!record || record->phase != term_phase::inaugurating) continue;
      auto& own = by_session_[what.session];
      const bool is_known = !own.empty() && own.back().leader_node == record->leader_node;
      if (!is_known) own.push_back({path, record->leader_node, seats + '/' + detail::member_of(*record)});
    }
  }
  all_of_one of(std::int64_t session) const {
    const auto found = by_session_.find(session);
    return found == by_session_.end() ? all_of_one() : found->second;
  }

 private:
  std::map<std::int64_t, all_of_one> by_session_;
};

}  // namespace zkrecipes::simulation
