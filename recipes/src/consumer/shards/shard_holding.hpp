// One shard at one of its owners: claims it, serves its terms, and gives it up.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <zkrecipes/consumer/leader_career.hpp>
#include <zkrecipes/consumer/shard.hpp>
#include <zkrecipes/consumer/shard_group.hpp>

#include "career/term_service.hpp"
#include "line/own_node.hpp"
#include "session/background.hpp"
#include "session/outcomes.hpp"
#include "shards/group_frame.hpp"
#include "shards/shard_seat.hpp"

namespace zkrecipes::detail {

using career_factory = std::function<std::unique_ptr<leader_career>(const shard&)>;

/// On the strand of the session.
class shard_holding : public std::enable_shared_from_this<shard_holding> {
 public:
  /// `ended`, which outlives it, is notified when `run` is over.
  shard_holding(group_frame_ptr group, own_node_ptr member, std::uint32_t number, const career_factory& make,
                gone_members_ptr gone, condition& ended);

  void start(asio::any_io_executor executor);
  bool is_over() const noexcept { return is_over_; }
  /// No call of the career runs any more; at most the end of the term has still to be written.
  bool is_served() const noexcept { return is_served_; }
  /// The term is handed over; no other follows. `at_once`: calls of the career other than the last ones are cancelled.
  void give_up(bool at_once);

  /// From any thread.
  shard_status status() const;

 private:
  awaitable<void> run();
  bool goes_on() const { return !is_given_up_ && !member_->lost(); }
  void make_career();
  std::shared_ptr<shard_seat> make_seat();
  awaitable<error_code> lead();
  awaitable<void> serve(term_ptr term);
  awaitable<void> calm_down(term_ptr term);
  awaitable<void> retire_surely();
  awaitable<void> retire();
  void show_end(term_record& ours) const;
  awaitable<void> mend_record();
  term_phase end_of(const term_record& ours) const;
  awaitable<void> quarantine(std::int64_t ended_epoch);
  awaitable<void> wait_for_release();
  awaitable<void> rest();
  void enter(coordinator_phase phase);
  void record_failure(std::string what);

  group_frame_ptr group_;
  own_node_ptr member_;
  const shard which_;
  const career_factory& make_;
  gone_members_ptr gone_;
  condition& ended_;
  asio::any_io_executor executor_;
  std::unique_ptr<leader_career> career_;
  career_traits traits_;
  condition changed_;
  back_off pause_;
  std::shared_ptr<term_service> service_;  // while we lead
  bool is_given_up_ = false;
  bool is_at_once_ = false;
  bool is_in_quarantine_ = false;
  bool is_served_ = false;
  bool is_over_ = false;
  std::optional<term_phase> end_;  // of the term that we served; nothing if none followed our claim
  bool has_failed_ = false;        // its career has
  std::shared_ptr<shard_seat> seat_;
  bool may_be_named_ = false;  // the record may name us as the leader of a term that we do not serve
  /// As the term that we served left it.
  std::optional<lease_clock::duration> limit_level_;

  mutable std::mutex mutex_;
  shard_status status_;
};

using shard_holding_ptr = std::shared_ptr<shard_holding>;

}  // namespace zkrecipes::detail
