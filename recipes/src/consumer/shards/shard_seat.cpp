#include "shards/shard_seat.hpp"

#include <chrono>
#include <utility>

#include "shards/shard_quarantine.hpp"

namespace zkrecipes::detail {

using backend::opcode;

std::string member_of(const term_record& record) { return record.leader_node.substr(0, record.leader_node.rfind('#')); }

shard_seat::shard_seat(group_frame_ptr group, own_node_ptr member, std::uint32_t shard, gone_members_ptr gone)
    : group_(std::move(group)),
      member_(std::move(member)),
      shard_(shard),
      record_path_(group_->where.record(shard)),
      name_(member_->name() + "#" + std::to_string(++group_->seats)),
      gone_(std::move(gone)),
      changed_(session()->get_scheduler()),
      member_changes_(member_->changed(), changed_) {}

error_code shard_seat::lost() const { return given_up_ ? make_error_code(errc::closed) : member_->lost(); }

lease_clock::time_point shard_seat::valid_until() const {
  return given_up_ ? lease_clock::time_point{} : member_->hold().valid_until();
}

awaitable<outcome<watch_ptr>> shard_seat::watch_leader(const term_record& of, condition& changed) {
  const auto name = member_of(of);
  const bool is_ours = name == member_->name();  // a term of ours before, whose end could not be written
  if (is_ours || gone_->contains(name)) co_return outcome<watch_ptr>(error_code(), nullptr);
  const auto path = group_->where.member(name);
  if (name.empty() || name.find('/') != name.npos || !path_problem(path).empty()) {  // nobody can have this name
    co_return outcome<watch_ptr>(error_code(), nullptr);
  }
  auto hint = session()->arm(watch_kind::data, path, changed);
  auto look = make_request(opcode::get, path, true);
  const auto deadline = session()->now() + session()->options().timeout;
  auto node = co_await session()->perform(std::move(look), retry::always, bound(), deadline);
  if (node.error == errc::no_node) co_return outcome<watch_ptr>(error_code(), nullptr);
  if (node.error && node.error != errc::no_auth) co_return outcome<watch_ptr>(node.error, nullptr);
  co_return outcome<watch_ptr>(error_code(), std::move(hint));
}

void shard_seat::sign(term_record& record, const term_record& before, std::int64_t before_ms) const {
  record.leader_id = group_->options.id;
  record.leader_node = name_;
  record.leader_token = 0;
  record.deaths = before.deaths;
  record.struck = before.struck;
  const bool was_forced = record.how == takeover::forced || record.how == takeover::died;
  const bool is_our_fault = member_of(before) == member_->name() && group_->health.is_troubled();
  if (was_forced && !is_our_fault) count_owner_failure(record, before.leader_id, before_ms, group_->options.calm);
}

void shard_seat::record_failure(term_record& record) const {
  if (group_->health.is_troubled()) return;
  // By the time of the write that began the term, and by our clock since then.
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(session()->now() - begun_at_);
  const auto now_ms = begun_ms_ == 0 ? 0 : begun_ms_ + since.count();
  count_owner_failure(record, group_->options.id, now_ms, group_->options.calm);
}

error_code shard_seat::objection(const term_record& next) {
  const auto limit = group_->options.quarantine_after;
  if (limit == 0 || next.deaths == 0) return {};
  if (next.deaths >= failures_needed(next, limit)) {
    objected_epoch_ = next.epoch - 1;
    return errc::career_failed;
  }
  const bool is_at_risk = next.deaths >= limit - 1;
  return is_at_risk && !take_turn() ? make_error_code(errc::busy) : error_code();
}

void shard_seat::on_begun(term_record& record, std::int64_t zxid, std::int64_t time) {
  if (record.leader_token == 0) record.leader_token = zxid;
  begun_ms_ = time;
  begun_at_ = session()->now();
}

awaitable<outcome<>> shard_seat::leave() {
  disown();
  co_return outcome<>(error_code());
}

void shard_seat::disown() {
  given_up_ = true;
  changed_.notify();
}

}  // namespace zkrecipes::detail
