// Plans for all members of a shard group in one term.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "career/term_state.hpp"
#include "group/children_reader.hpp"
#include "session/background.hpp"
#include "shards/away_notes.hpp"
#include "shards/group_frame.hpp"
#include "shards/member_returns.hpp"
#include "shards/moving_shards.hpp"
#include "shards/quarantine_terms.hpp"
#include "shards/shard_assignment.hpp"

namespace zkrecipes::detail {

/// It keeps no state that matters: each step begins with what the nodes say. On the strand.
class planner : public std::enable_shared_from_this<planner> {
 public:
  using trouble_listener = std::function<void(const error_code&)>;

  /// `on_trouble` is called after each step, with why it could not be done.
  planner(group_frame_ptr group, term_ptr term, trouble_listener on_trouble);

  /// Until the term is to end.
  awaitable<void> run();

 private:
  using time_point = lease_clock::time_point;

  awaitable<void> listen();
  awaitable<time_point> step();
  awaitable<time_point> plan(children_snapshot members);
  awaitable<error_code> check_records();
  awaitable<error_code> check_frozen();
  awaitable<error_code> check_map();
  time_point again(const error_code& error);
  bool can_see_members();
  bool can_see_notes();
  bool shows_what_was_written(const children_snapshot& members) const;
  std::vector<listed_member> listed(const children_snapshot& members);
  shard_set quarantined() const;
  operator_notes wishes() const;
  std::map<std::uint32_t, std::string> gone_owners(const children_snapshot& members) const;
  time_point due_at(const shard_assignment& plan);
  awaitable<error_code> write(const shard_assignment& plan);
  awaitable<error_code> write_orders(std::vector<shard_assignment::order> orders);
  awaitable<void> forget_notes(std::vector<std::string> ids);
  awaitable<void> end_quarantines(std::vector<quarantine_terms::ended> over);
  bool is_map_due() const;
  awaitable<time_point> write_map(const shard_assignment& plan, children_snapshot members);
  time_point now() const { return session()->now(); }
  const core_ptr& session() const noexcept { return group_->session; }

  group_frame_ptr group_;
  term_ptr term_;
  trouble_listener on_trouble_;
  error_code trouble_;  // of the present step
  condition changed_;   // something that we look at
  condition news_;
  bool has_news_ = false;
  background listener_;
  children_reader_ptr members_;
  children_reader_ptr quarantines_;
  children_reader_ptr notes_;                                 // of an operator
  std::map<child_ptr, std::optional<member_record>> parsed_;  // the members' data
  moving_shards moving_;
  away_notes away_;
  member_returns returns_;
  quarantine_terms terms_;
  std::unique_ptr<watch> records_hint_;
  std::unique_ptr<watch> frozen_hint_;
  bool is_frozen_ = false;
  std::unique_ptr<watch> map_hint_;
  std::set<std::uint32_t> remade_;               // shards whose records were missing, and were made
  std::map<std::string, std::int32_t> written_;  // versions of members' nodes that the view may not show yet
  std::set<std::string> known_newcomers_;
  time_point first_came_{};
  time_point last_came_{};
  shard_owners last_owners_;  // as of the step before
  std::string shown_map_;
  children_snapshot mapped_;      // the members that it shows
  std::int64_t map_written_ = 0;  // the transaction that wrote it
  time_point map_shown_at_{};
};

}  // namespace zkrecipes::detail
