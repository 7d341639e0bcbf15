// One membership of this process in a balance that processes share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "balance/pacer.hpp"
#include "session/background.hpp"

namespace zkrecipes::detail {

/// It begins with the creation of our node, and ends when the node or the session is lost, or when it is ended. Four
/// tasks run meanwhile, each with a condition of its own: one tells our floor, one follows the limit, one follows the
/// list of members, one is the pacer. None of them waits for another, so the floor is told also while the limit can not
/// be written. A task sets its watch before it reads, and looks at what it has to do after each wait.
///
/// On the strand.
class pace_membership : public std::enable_shared_from_this<pace_membership> {
 public:
  /// `changed` is notified when the membership has ended, or has another error. It has to outlive the tasks.
  pace_membership(pace_place_ptr where, shared_pace_ptr pace, std::shared_ptr<condition> changed);

  /// Joins with the node of members, and admits the tracks. On any error, or when it is cancelled, the node goes.
  awaitable<error_code> join();
  /// There may be a floor to be told.
  void on_floor_due() { floor_due_.notify(); }
  /// Ends it; no track moves any more. Waits until our node is gone, or no answer says so.
  awaitable<error_code> leave();

  bool is_over() const noexcept { return is_over_; }
  /// Why it has ended by itself: `session_expired`, `node_removed`, `no_node` (the limit), `foreign_data`,
  /// `size_mismatch`, or a refusal.
  const error_code& why() const noexcept { return why_; }
  bool is_pacer() const noexcept { return pacer_.is_first(); }
  /// What keeps the limit from being moved, or our floor from being told, if it is an error.
  const error_code& trouble() const noexcept { return pacing_error_ ? pacing_error_ : announcing_error_; }
  /// The node that is in the way, if `trouble` is about one.
  const std::string& obstacle() const noexcept { return obstacle_; }

 private:
  std::string own_path() const { return where_->member(name_); }
  awaitable<error_code> enter();
  void start();
  void end(error_code why);
  bool end_if(const error_code& error);
  void record_error(error_code& with, const error_code& error);
  void record_obstacle(const error_code& error);
  awaitable<void> announce_floor();
  awaitable<void> follow_limit();
  awaitable<void> follow_list();
  awaitable<void> set_pace();
  bool on_list(const backend::reply& listed);
  void look_again();
  awaitable<void> rest();

  const pace_place_ptr where_;
  const shared_pace_ptr pace_;
  const std::shared_ptr<condition> changed_;
  const core_ptr session_;
  const incarnation_ptr bound_;
  const std::string name_;
  pacer pacer_;
  core::holder holder_;
  bool is_over_ = false;
  error_code why_;
  error_code pacing_error_;
  std::string obstacle_;
  error_code announcing_error_;
  std::uint64_t looks_wanted_ = 0;  // counts the requests to read list and limit again
  std::uint64_t limit_looks_ = 0;   // as many of them as the latest answer has met
  std::uint64_t list_looks_ = 0;
  condition floor_due_;
  condition limit_due_;
  condition list_due_;
  background announcing_;
  background following_limit_;
  background following_list_;
  background pacing_;
};

}  // namespace zkrecipes::detail
