// The rules for terms.
#pragma once

#include <deque>
#include <optional>
#include <set>
#include <string>

#include <zkrecipes/consumer/leader_career.hpp>

#include "election/term_record.hpp"
#include "run/stage.hpp"

namespace zkrecipes::simulation {

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
