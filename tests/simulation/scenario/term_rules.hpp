// The rules for terms.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <zkrecipes/consumer/leader_career.hpp>

#include "election/term_record.hpp"
#include "guardian/dead_session.hpp"
#include "model/ensemble.hpp"
#include "run/stage.hpp"
#include "shards/shard_holding.hpp"

namespace zkrecipes::simulation {

// The rules for the calls of the careers of all clients.

/// The terms that each session has begun, as a guardian is told of them.
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

enum class call { inaugurate, execute, hand_over, ended };

class call_rules {
 public:
  call_rules(stage& in, span hand_over_deadline);

  /// A call of the career of `client` begins; it goes on for as long as the returned object exists.
  [[nodiscard]] std::shared_ptr<void> begins(int client, const term& present, call what);
  /// A run of this client has completed.
  void run_ended(int client);
  /// Whether no term of this client goes on.
  bool has_ended(int client) const { return careers_[static_cast<std::size_t>(client)].has_ended; }
  /// The client's process starts again: the career of the killed process gets no more calls.
  void forget(int client);
  /// An operator has overwritten the record, so a successor does not know how long to wait. Overlaps are no error any
  /// more.
  void forgive_overlaps() { overlaps_matter_ = false; }

 private:
  struct career {
    std::int64_t token = 0;
    bool has_ended = true;
    std::uint64_t running = 0;  // number of the present call; 0: none
    call what = call::ended;
    std::optional<instant> free_since;  // when the last call returned, if the term was ending by then
  };

  void check_order(int client, career& of, const term& present, call what);
  void check_delay(int client, const career& of, call what);
  void check_overlap(int client, const term& present, call what);
  void expect_end(int client, std::uint64_t running);

  stage& in_;
  span deadline_;
  span allowed_;
  bool overlaps_matter_;
  std::uint64_t calls_ = 0;
  std::vector<career> careers_;
  std::int64_t newest_token_ = 0;
  instant newest_since_{0};
};

class term_rules {
 public:
  term_rules(stage& in, std::string election) : in_(in), election_(std::move(election)) {}

  void committed(const entry& what);

  /// A career was told that its term begins. This comes late if its process was paused.
  void inaugurated(int client, std::int64_t epoch, std::int64_t token);

  std::int64_t epoch() const noexcept { return epoch_; }
  bool is_finished() const noexcept { return finished_; }
  /// How often an operator has written into the election node.
  int overwritten() const noexcept { return overwritten_; }
  void check_quiet(const tree& nodes);

 private:
  void record_operator(const entry& what);
  void on_arrival(const std::string& path);
  void on_departure(const std::string& path);
  void check_request(const change& what);
  void check_record(const change& what);
  /// A term that ended, as the simulation has seen it.
  struct seen_term {
    std::int64_t epoch;
    std::string leader;
    takeover successor;  ///< How the next term took over.
    term_phase last_phase;
    term_outcome outcome() const;
  };
  void check_history(const detail::term_record& record, bool is_next, const std::string& text);
  void check_wait(const std::string& record);
  void check_death(const change& record, const entry& what);
  void check_aftermath(const detail::term_record& next, const std::string& text);
  void check_retirement(const change& record, const entry& what);

  stage& in_;
  std::string election_;
  int overwritten_ = 0;
  std::int64_t epoch_ = 0;
  std::int64_t last_epoch_ = 0;  // the epoch before an operator overwrote the record
  std::string leader_node_;
  bool finished_ = true;
  std::string leader_id_;        // of the present term, with the next two
  term_phase phase_{};           // as last written
  std::deque<seen_term> ended_;  // the last terms
  span deadline_{0};             // hand-over deadline of the present term
  span aftermath_{0};            // of the present term
  std::optional<instant> died_;  // when that was written
  std::optional<instant> left_;  // when the node of the present leader was removed
  std::set<std::string> candidates_;
  bool is_orphan_ = false;       // the leader died when all others had left: nobody takes over
  std::set<std::string> asked_;  // nodes of candidates that an operator has asked to resign
  std::set<std::int64_t> inaugurated_;
  std::set<std::int64_t> tokens_;
};

}  // namespace zkrecipes::simulation
