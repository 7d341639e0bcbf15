// The seat of a member that leads one shard.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "career/term_seat.hpp"
#include "line/own_node.hpp"
#include "session/condition.hpp"
#include "shards/group_frame.hpp"

namespace zkrecipes::detail {

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

}  // namespace zkrecipes::detail
