// One shard at one of its owners: claims it, serves its terms, and gives it up.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <zkrecipes/consumer/leader_career.hpp>
#include <zkrecipes/consumer/shard.hpp>
#include <zkrecipes/consumer/shard_group.hpp>

#include "career/term_service.hpp"
#include "career/term_state.hpp"
#include "line/own_node.hpp"
#include "session/background.hpp"
#include "session/condition.hpp"
#include "session/outcomes.hpp"
#include "shards/group_frame.hpp"

namespace zkrecipes::detail {

/// The seat of a member that leads one shard.
/// It lasts as long as the member's node, until it is given up. The shard's record names the member and the number of
/// the seat, because a member can get a shard back.
class shard_seat final : public term_seat {
 public:
  /// `gone`: members that are known to be gone.
  shard_seat(group_frame_ptr group, own_node_ptr member, std::uint32_t shard, gone_members_ptr gone);

  const core_ptr& session() const noexcept override { return member_->session(); }
  const std::string& record_path() const noexcept override { return record_path_; }
  std::string node_path() const override { return member_->path(); }
  error_code lost() const override;
  /// In the past once it is given up, because the next owner may begin before we hear of that.
  lease_clock::time_point valid_until() const override;

  const incarnation_ptr& bound() const noexcept override { return member_->bound(); }
  bool revoked() const override { return false; }
  condition& changed() noexcept override { return changed_; }

  bool comes_after_its_leader() const override { return false; }
  /// A leader whose node is missing has gone: it made its node before it led, and no name is used twice.
  awaitable<outcome<watch_ptr>> watch_leader(const term_record& of, condition& changed) override;
  void sign(term_record& record, const term_record& before, std::int64_t before_ms) const override;
  bool has_signed(const term_record& record) const override { return record.leader_node == name_; }
  /// A failure while most shards of this member fail is not the shard's.
  void record_failure(term_record& record) const override;
  /// `career_failed`: the shard is to be put in quarantine. `busy`: another shard begins alone.
  error_code objection(const term_record& next) override;
  bool take_turn() override { return group_->risk.take(shard_); }
  condition& turn_changed() override { return group_->risk.changed(); }
  void pass_turn() override { group_->risk.pass_on(shard_); }
  /// The term behind which we object to another one.
  std::int64_t objected_epoch() const noexcept { return objected_epoch_; }
  /// The fencing token is the number of the transaction that began the term, so it grows from owner to owner.
  void on_begun(term_record& record, std::int64_t zxid, std::int64_t time) override;
  void add_check(transaction& all) const override { all.check(member_->path()); }
  void add_leave(transaction&) const override {}  // the record says that it is given up
  awaitable<void> show_waiting() override { co_return; }

  awaitable<outcome<>> leave() override;
  void disown() override;
  void clear_away(bool) override {}

 private:
  group_frame_ptr group_;
  own_node_ptr member_;
  std::uint32_t shard_;
  std::string record_path_;
  std::string name_;
  gone_members_ptr gone_;
  condition changed_;
  forwarding member_changes_;
  std::int64_t objected_epoch_ = 0;
  std::int64_t begun_ms_ = 0;  // by the servers' clock; 0: it is not known
  lease_clock::time_point begun_at_{};
  std::atomic<bool> given_up_ = false;
};

/// The member that a record of a shard names: its node.
std::string member_of(const term_record& record);

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
