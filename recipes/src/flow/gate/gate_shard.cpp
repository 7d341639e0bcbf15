#include "gate/gate_shard.hpp"

#include <mutex>
#include <utility>

#include <boost/asio/error.hpp>

#include "gate/gate.hpp"

namespace zkrecipes::detail {

std::size_t gate_table::slot_of(const gate_key& key) const noexcept {
  auto at = key.low & mask();
  while (slots_[at].generation != 0 && slots_[at].key != key) at = (at + 1) & mask();
  return at;
}

active_key* gate_table::find_other(const gate_key& key) noexcept {
  auto& there = slots_[slot_of(key)];
  return there.generation != 0 ? &there : nullptr;
}

active_key& gate_table::insert_other(const gate_key& key) {
  if (is_full()) grow();
  ++others_;
  auto& made = slots_[slot_of(key)];
  made.key = key;
  return made;
}

void gate_table::erase_other(active_key& which) noexcept {
  auto hole = static_cast<std::size_t>(&which - slots_.data());
  for (auto at = (hole + 1) & mask(); slots_[at].generation != 0; at = (at + 1) & mask()) {
    // An entry may not stand in front of the slot where the search for it begins.
    const auto distance_from_home = (at - slots_[at].key.low) & mask();
    const auto distance_from_hole = (at - hole) & mask();
    if (distance_from_home < distance_from_hole) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = active_key();
  --others_;
}

void gate_table::grow() {
  std::vector<active_key> before(slots_.empty() ? least : 2 * slots_.size());
  std::swap(before, slots_);
  for (const auto& each : before) {
    if (each.generation != 0) slots_[slot_of(each.key)] = each;
  }
}

gate_waiter::gate_waiter(std::shared_ptr<gate_state> whose, const gate_key& for_key, gate_caller caller)
    : whose_(std::move(whose)), key_(for_key), caller_(std::move(caller)) {}

void gate_waiter::listen() {
  auto slot = caller_.cancellation_slot();
  if (!slot.is_connected()) return;
  // The slot may outlive the operation, and even the context, so its handler has only a weak pointer.
  slot.assign([weak = weak_from_this()](boost::asio::cancellation_type type) {
    const auto alive = weak.lock();
    if (alive && type != boost::asio::cancellation_type::none) alive->whose_->cancel(*alive);
  });
}

/// The calls that are left to make once the lock has been released.
class gate_shard::aftermath {
 public:
  void finish(gate_state& whose) {
    if (has_arrived) whose.on_arrival(due);
    if (has_departed) whose.on_departure();
    if (admitted) admitted->caller().complete({}, std::move(pass));
    if (declined) declined->caller().complete(errc::declined);
  }

  std::shared_ptr<gate_waiter> admitted;
  gate_pass pass;  // that of `admitted`
  std::shared_ptr<gate_waiter> declined;
  bool has_arrived = false;
  bool has_departed = false;
  lease_clock::time_point due{};  // of the waiter that has arrived
};

std::optional<gate_pass> gate_shard::try_enter(const gate_key& key, lease_clock::time_point now) {
  {
    std::lock_guard lock(lock_);
    auto& at = active_.find_or_insert(key);
    if (at.generation == 0) return admit(at, now);
    if (!is_expired(at, now)) return std::nullopt;
  }
  return try_evict(key, now);
}

/// The key is held by a processing that took too long, unless that has changed meanwhile.
std::optional<gate_pass> gate_shard::try_evict(const gate_key& key, lease_clock::time_point now) {
  aftermath then;
  std::optional<gate_pass> pass;
  {
    std::lock_guard lock(lock_);
    auto& at = active_.find_or_insert(key);
    if (at.generation == 0) return admit(at, now);
    if (!is_expired(at, now)) return pass;
    ++evicted_;
    if (at.waiter) {
      promote(at, now, then);
    } else {
      pass = admit(at, now);
    }
  }
  then.finish(*whose_);
  return pass;
}

gate_shard::answer gate_shard::enter(const gate_key& key, lease_clock::time_point now, gate_pass& pass) {
  std::lock_guard lock(lock_);
  auto& at = active_.find_or_insert(key);
  const bool is_held = at.generation != 0;
  const bool has_expired = is_held && is_expired(at, now);
  if (!is_held || (has_expired && !at.waiter)) {
    if (has_expired) ++evicted_;
    pass = admit(at, now);
    return answer::accepted;
  }
  if (has_expired || !at.waiter || whose_->options().keep == keep::newest) return answer::to_wait;
  ++declined_;
  return answer::declined;
}

void gate_shard::wait(const std::shared_ptr<gate_waiter>& who, lease_clock::time_point now) {
  aftermath then;
  {
    std::lock_guard lock(lock_);
    auto& at = active_.find_or_insert(who->key());
    const bool is_held = at.generation != 0;
    const bool has_expired = is_held && is_expired(at, now);
    if (has_expired) ++evicted_;
    if (!is_held || (has_expired && !at.waiter)) {
      then.pass = admit(at, now);
      then.admitted = who;
    } else if (has_expired) {
      promote(at, now, then);
      attach(at, who, then);
    } else if (at.waiter && whose_->options().keep == keep::first) {
      then.declined = who;
    } else {
      if (at.waiter) then.declined = detach(at, then);
      attach(at, who, then);
    }
    if (then.declined) ++declined_;
  }
  then.finish(*whose_);
}

void gate_shard::cancel(gate_waiter& who) {
  aftermath then;
  std::shared_ptr<gate_waiter> cancelled;
  {
    std::lock_guard lock(lock_);
    auto* at = active_.find(who.key());
    if (at && at->waiter == &who) cancelled = detach(*at, then);
  }
  then.finish(*whose_);
  if (cancelled) cancelled->caller().complete(boost::asio::error::operation_aborted);
}

bool gate_shard::is_valid(const gate_key& key, std::uint64_t generation) noexcept {
  std::lock_guard lock(lock_);
  const auto* at = active_.find(key);
  return at && at->generation == generation;
}

void gate_shard::leave(const gate_key& key, std::uint64_t generation) {
  {
    std::lock_guard lock(lock_);
    auto* at = active_.find(key);
    if (at && at->generation == generation && !at->waiter && !is_orphaned_) {
      active_.erase(*at);
      --passes_;
      return;
    }
  }
  leave_with_others(key, generation);
}

/// A caller waits, or has got in instead, or the gate has gone.
void gate_shard::leave_with_others(const gate_key& key, std::uint64_t generation) {
  std::shared_ptr<gate_state> last;  // destroyed at the end, with this shard
  aftermath then;
  {
    std::lock_guard lock(lock_);
    auto* at = active_.find(key);
    if (at && at->generation == generation) {
      if (at->waiter) {
        promote(*at, whose_->now(), then);
      } else {
        active_.erase(*at);
      }
    }
    --passes_;
    if (passes_ == 0 && is_orphaned_) last = std::move(kept_);
  }
  // If nobody has got in, the gate may end on another thread now, and this shard with it. A waiter owns the state.
  if (then.admitted) then.finish(*whose_);
}

lease_clock::time_point gate_shard::evict_due(lease_clock::time_point now) {
  for (;;) {
    aftermath then;
    {
      std::lock_guard lock(lock_);
      if (waiting_.empty()) return never;
      const auto& first = *waiting_.begin();
      if (first.due > now) return first.due;
      promote(*active_.find(first.key()), now, then);
      ++evicted_;
    }
    then.finish(*whose_);
  }
}

void gate_shard::orphan(const std::shared_ptr<gate_state>& state) {
  std::lock_guard lock(lock_);
  is_orphaned_ = true;
  if (passes_ > 0) kept_ = state;
}

void gate_shard::drop() noexcept {
  for (;;) {
    std::shared_ptr<gate_waiter> dropped;
    aftermath then;  // nothing is left to do: the timer has gone, too
    std::lock_guard lock(lock_);
    if (waiting_.empty()) return;
    dropped = detach(*active_.find(waiting_.begin()->key()), then);
  }
}

void gate_shard::add_to(gate_statistics& all) const {
  std::lock_guard lock(lock_);
  all.accepted += last_generation_;
  all.waited += waited_;
  all.declined += declined_;
  all.evicted += evicted_;
  all.active += active_.size();
  all.waiting += waiting_.size();
}

gate_pass gate_shard::admit(active_key& at, lease_clock::time_point now) {
  at.generation = ++last_generation_;
  at.start = now;
  ++passes_;
  if (is_orphaned_ && !kept_) kept_ = whose_->shared_from_this();
  return gate_pass(*this, at.key, at.generation);
}

bool gate_shard::is_expired(const active_key& at, lease_clock::time_point now) const noexcept {
  return now >= end_of(whose_->options().safety, at.start);
}

/// The waiter begins, in the place of the processing that has ended or took too long.
void gate_shard::promote(active_key& at, lease_clock::time_point now, aftermath& then) {
  then.admitted = detach(at, then);
  then.pass = admit(at, now);
}

void gate_shard::attach(active_key& at, const std::shared_ptr<gate_waiter>& who, aftermath& then) {
  at.waiter = who.get();
  who->self = who;
  who->due = end_of(whose_->options().safety, at.start);
  waiting_.insert(*who);
  ++waited_;
  whose_->count_waiting(1);
  then.has_arrived = true;
  then.due = who->due;
}

std::shared_ptr<gate_waiter> gate_shard::detach(active_key& at, aftermath& then) noexcept {
  auto* who = std::exchange(at.waiter, nullptr);
  waiting_.erase(waiting_.iterator_to(*who));
  whose_->count_waiting(-1);
  then.has_departed = true;
  return std::move(who->self);
}

}  // namespace zkrecipes::detail
