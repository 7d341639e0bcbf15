// Faults of the ensemble.
#include <algorithm>
#include <utility>

#include "model/ensemble.hpp"

namespace zkrecipes::simulation {

void ensemble::break_connection(const connection_ptr& which) { close(which); }

void ensemble::crash(int which) {
  if (!std::exchange(at(which).up, false)) return;
  if (leads(which)) return lose_leader();
  leave(which);
}

void ensemble::restart(int which) { at(which).up = true; }

void ensemble::cut_off(int which) {
  if (leads(which) || !at(which).orders) return;
  at(which).is_cut = true;
  for (auto* each : {&at(which).to_leader, &at(which).orders, &at(which).commits}) (*each)->freeze();
}

void ensemble::rejoin(int which) {
  if (at(which).stopped || !std::exchange(at(which).is_cut, false)) return;
  for (auto* each : {&at(which).to_leader, &at(which).orders, &at(which).commits}) {
    if (*each) (*each)->thaw();
  }
}

bool ensemble::stop(int which) {
  const auto answers = [](const server& each) {
    return each.serving && !each.is_cut && !each.deposed && !each.silent && !each.refusing;
  };
  if (leads(which) || !at(which).orders || !std::ranges::all_of(servers_, answers)) return false;
  at(which).stopped = true;
  cut_off(which);
  for (const auto& each : made_) {
    if (auto one = each.lock(); one && one->server == which) one->up->freeze();
  }
  return true;
}

void ensemble::wake(int which) {
  if (!std::exchange(at(which).stopped, false)) return;
  for (const auto& each : made_) {
    if (auto one = each.lock(); one && one->server == which) one->up->thaw();
  }
  rejoin(which);
}

void ensemble::depose(span unaware, std::optional<int> cut_off_with_it) {
  if (leader_ < 0 || voters().size() - 1 <= servers_.size() / 2) return;  // the others could not elect
  auto& old = at(leader_);
  deposed_ = {leader_, deposed_.times + 1, committed_ < log_.size(), sessions_, cut_off_with_it};
  old.is_cut = old.deposed = true;
  lose_leader();
  close_unreachable();
  clock_.after(unaware, [this, time = deposed_.times] {
    if (deposed_.times == time) undeceive();
  });
}

void ensemble::undeceive() {
  if (deposed_.which >= 0 && at(deposed_.which).deposed) leave(deposed_.which);
}

void ensemble::close_unreachable() {
  for (auto& each : servers_) {
    const auto open = each.connections;
    for (const auto& [number, one] : open) {
      if (!reaches(one->client, one->server)) close(one);
    }
  }
}

void ensemble::rejoin_deposed() {
  deposed_.company.reset();
  if (deposed_.which >= 0) rejoin(deposed_.which);
}

bool ensemble::back_up() {
  if (leader_ < 0 || at(leader_).applied == 0) return false;
  backup_ = {at(leader_).data, at(leader_).applied, last_zxid(leader_), durable_};
  return true;
}

/// The log of the backup has what was committed then. The next epoch follows the one of the backup, which may be one
/// that was before.
bool ensemble::restore() {
  const auto is_deposed = [](const server& each) { return each.deposed || each.stopped; };
  if (leader_ < 0 || backup_.committed == 0 || std::ranges::any_of(servers_, is_deposed)) return false;
  lose_leader();
  log_.resize(backup_.committed);
  committed_ = backup_.committed;
  durable_ = backup_.sessions;
  zxid_ = backup_.zxid;
  for (auto& each : servers_) {
    each.data = backup_.data;
    each.applied = each.logged = backup_.committed;
  }
  return true;
}

void ensemble::slow_down(int which, span extra_lag) {
  at(which).extra_lag = extra_lag;
  if (at(which).commits) at(which).commits->slow_by(extra_lag);
}

void ensemble::create(const std::string& path, const std::string& data) {
  transaction one;
  one.create(path, data, create_mode::persistent, open_acl());
  operate(backend::make_multi(one));
}

void ensemble::remove(const std::string& path) { operate(backend::make_request(backend::opcode::remove, path)); }

void ensemble::replace(const std::string& path) {
  constexpr int writes = 100;
  transaction all;
  if (latest_.find(path)) all.remove(path);
  all.create(path, "foreign");
  for (int i = 0; i < writes; ++i) all.set(path, "foreign");
  operate(backend::make_multi(all));
}

void ensemble::write(const std::string& path, const std::string& data) {
  transaction one;
  one.set(path, data);
  operate(backend::make_multi(one));
}

/// Executes a request of an operator, which belongs to no session.
void ensemble::operate(const backend::request& what) {
  if (leader_ < 0) return;
  entry next;
  ++zxid_;
  auto done = prepare(latest_, what, {}, 0, zxid_, 0);
  next.answer = std::move(done.answer);
  next.changes = std::move(done.changes);
  propose(std::move(next));
}

std::string ensemble::any_watch() const {
  for (const auto& each : servers_) {
    if (each.watches.size() > 0) return each.watches.any();
  }
  return {};
}

std::size_t ensemble::watches() const {
  std::size_t count = 0;
  for (const auto& each : servers_) count += each.watches.size();
  return count;
}

}  // namespace zkrecipes::simulation
