// The servers among themselves: proposals, acknowledgements, commits, expiry of sessions, elections of leaders.
#include <algorithm>
#include <utility>

#include "model/ensemble.hpp"

namespace zkrecipes::simulation {

using namespace std::chrono_literals;

ensemble::ensemble(clockwork& clock, ensemble_settings settings, std::uint64_t seed, ensemble_observer& observer)
    : clock_(clock),
      settings_(settings),
      chance_(seed, 101),
      seed_(seed),
      observer_(observer),
      servers_(static_cast<std::size_t>(settings.servers)) {
  leader_ = static_cast<int>(chance_.below(servers_.size()));
  chance clocks(seed, 102);
  for (auto& each : servers_) each.clock_ahead = clocks.between(0ms, 400ms);
  zxid_ = std::int64_t{1} << 32;
  for (int i = 0; i < settings_.servers; ++i) {
    if (!leads(i)) link(i);
  }
  containers_due_ = settings_.container_check;
  clock_.after(settings_.tick / 2, [this] { half_tick(); });
}

int ensemble::best() const {
  if (leader_ >= 0) return leader_;
  auto most = std::max_element(servers_.begin(), servers_.end(),
                               [](const server& a, const server& b) { return a.applied < b.applied; });
  return static_cast<int>(most - servers_.begin());
}

void ensemble::propose(entry what) {
  what.zxid = zxid_;
  log_.push_back(std::make_shared<const entry>(std::move(what)));
  const auto upto = log_.size();
  at(leader_).logged = upto;
  for (int i = 0; i < settings_.servers; ++i) {
    if (leads(i) || !at(i).orders) continue;
    at(i).orders->send([this, i, upto] {
      at(i).logged = std::max(at(i).logged, upto);
      at(i).heard = clock_.now();
      at(i).to_leader->send([this, i] {
        at(i).heard_by_leader = clock_.now();
        advance();
      });
    });
  }
}

/// Commits what a majority has logged.
void ensemble::advance() {
  if (committed_ == log_.size()) return;
  std::vector<std::size_t> logged;
  logged.reserve(servers_.size());
  for (const auto& each : servers_) logged.push_back(each.orders || &each == &at(leader_) ? each.logged : 0);
  std::sort(logged.begin(), logged.end(), std::greater<>());
  const auto agreed = logged[logged.size() / 2];
  if (agreed <= committed_) return;
  while (committed_ < agreed) commit_next();
}

void ensemble::commit_next() {
  const auto& done = *log_[committed_++];
  if (done.type == entry::kind::open_session) durable_[done.session] = {done.key.password, done.key.timeout};
  if (done.type == entry::kind::close_session) durable_.erase(done.session);
  observer_.committed(done);
  apply(leader_, committed_);
  for (int i = 0; i < settings_.servers; ++i) {
    if (leads(i) || !at(i).commits) continue;
    at(i).commits->send([this, i, upto = committed_] { apply(i, upto); });
  }
  while (!syncs_.empty() && syncs_.front().upto <= committed_) {
    if (auto asked = syncs_.front().asked.lock()) answer_sync(syncs_.front().from, asked);
    syncs_.pop_front();
  }
}

void ensemble::apply(int which, std::size_t upto) {
  auto& on = at(which);
  for (; on.applied < upto; ++on.applied) {
    const auto& what = *log_[on.applied];
    for (const auto& each : what.changes) {
      on.watches.happening(each, on.data, [this](const connection_ptr& to, const backend::watch_event& event) {
        if (to->closed) return;
        observer_.watch_fired(*to, event);
        to->down->send([to, event] {
          if (to->end) to->end->fired(event);
        });
      });
      on.data.apply(each, what.zxid, what.time_ms);
    }
    if (what.type == entry::kind::close_session) {
      if (leads(which)) sessions_.erase(what.session);
      on.touched.erase(what.session);
      auto open = on.connections;
      for (auto& [number, each] : open) {
        if (each->key.id == what.session) close(each);
      }
    }
    auto asked = what.asked.lock();
    if (asked && asked->server == which && !asked->closed) answer_forwarded(asked, what);
  }
}

instant ensemble::expiry(span timeout) const {
  return ((clock_.now() + timeout) / settings_.tick + 1) * settings_.tick;
}

void ensemble::prolong(session_state& session) const {
  if (!session.closing) session.expires = std::max(session.expires, expiry(session.timeout));
}

void ensemble::touch(int which, std::int64_t session) {
  if (!believes_to_lead(which)) {
    at(which).touched.insert(session);
  } else if (auto found = sessions_at(which).find(session); found != sessions_at(which).end()) {
    prolong(found->second);
  }
}

void ensemble::half_tick() {
  clock_.after(settings_.tick / 2, [this] { half_tick(); });
  if (++half_ticks_ % 2 == 0) close_silent();
  if (leader_ < 0) {
    if (!electing_) lose_leader();
    return;
  }
  const auto silence = settings_.tick * settings_.sync_limit;
  std::size_t followers = 0;
  for (int i = 0; i < settings_.servers; ++i) {
    if (believes_to_lead(i)) continue;
    auto& each = at(i);
    if (each.orders && clock_.now() - each.heard_by_leader > silence) unlink(i);
    if (each.serving && !each.stopped && clock_.now() - each.heard > silence) leave(i);
    if (each.serving && !each.orders && !each.is_cut) leave(i);
    if (!each.serving && each.up && !each.is_cut && !each.stopped) join(i);
    if (each.orders) ping(i), ++followers;
  }
  if (followers + 1 <= servers_.size() / 2) return lose_leader();
  advance();
  if (half_ticks_ % 2 == 0) expire_sessions();
  if (clock_.now() >= containers_due_) remove_containers();
}

void ensemble::remove_containers() {
  containers_due_ = clock_.now() + settings_.container_check;
  for (auto& path : latest_.abandoned_containers()) {
    change gone;
    gone.type = change::kind::remove;
    gone.path = std::move(path);
    ++zxid_;
    latest_.apply(gone, zxid_, 0);
    entry next;
    next.changes.push_back(std::move(gone));
    propose(std::move(next));
  }
}

void ensemble::ping(int follower) {
  at(follower).orders->send([this, follower] {
    at(follower).heard = clock_.now();
    auto touched = std::exchange(at(follower).touched, {});
    at(follower).to_leader->send([this, follower, touched = std::move(touched)] {
      at(follower).heard_by_leader = clock_.now();
      for (auto session : touched) {
        if (auto found = sessions_.find(session); found != sessions_.end()) prolong(found->second);
      }
    });
  });
}

void ensemble::expire_sessions() {
  for (auto& [id, each] : sessions_) {
    if (!each.closing && each.expires <= clock_.now()) expire(id);
  }
}

/// Marks the session as closing, and proposes its end up to 2 ms later. Requests that the leader receives in between
/// are refused as expired.
void ensemble::expire(std::int64_t session) {
  auto found = sessions_.find(session);
  if (found == sessions_.end() || found->second.closing || leader_ < 0) return;
  found->second.closing = true;
  clock_.after(chance_.between(0ms, 2ms), [this, session, epoch = epoch_] {
    if (epoch == epoch_) close_session(session, {});
  });
}

void ensemble::link(int follower) {
  auto& each = at(follower);
  const auto& s = settings_;
  each.to_leader = std::make_shared<pipe>(clock_, seed_, 1000 + pipes_++, s.least_delay, s.max_delay);
  each.orders = std::make_shared<pipe>(clock_, seed_, 1000 + pipes_++, s.least_delay, s.max_delay);
  each.commits = std::make_shared<pipe>(clock_, seed_, 1000 + pipes_++, s.least_delay, s.max_delay + s.max_lag);
  each.commits->slow_by(each.extra_lag);
  each.heard = each.heard_by_leader = clock_.now();
}

void ensemble::unlink(int follower) {
  for (auto* each : {&at(follower).to_leader, &at(follower).orders, &at(follower).commits}) {
    if (*each) (*each)->cut(0);
    each->reset();
  }
}

void ensemble::leave(int which) {
  at(which).serving = at(which).deposed = false;
  unlink(which);
  close_all(which);
  at(which).touched.clear();
}

/// Gives the server the commits and proposals that it lacks; it takes part again as a follower.
void ensemble::join(int which) {
  auto& each = at(which);
  apply(which, committed_);
  each.logged = log_.size();
  each.serving = true;
  link(which);
}

void ensemble::lose_leader() {
  ++epoch_;
  syncs_.clear();
  leader_ = -1;
  electing_ = true;
  for (int i = 0; i < settings_.servers; ++i) {
    if (!at(i).deposed) leave(i);
  }
  clock_.after(settings_.election + chance_.between(0ms, 300ms), [this] { elect(); });
}

std::vector<int> ensemble::voters() const {
  std::vector<int> all;
  for (int i = 0; i < settings_.servers; ++i) {
    const auto& each = servers_[index(i)];
    if (each.up && !each.is_cut && !each.deposed) all.push_back(i);
  }
  return all;
}

/// Among the servers that can reach each other, the one with the longest log becomes leader and its log counts for all.
/// Entries that only other servers had logged are lost.
void ensemble::elect() {
  electing_ = false;
  auto present = voters();
  if (present.size() <= servers_.size() / 2) return;  // half_tick tries again
  std::swap(present.front(), present[chance_.below(present.size())]);
  leader_ =
      *std::max_element(present.begin(), present.end(), [this](int a, int b) { return at(a).logged < at(b).logged; });
  log_.resize(at(leader_).logged);
  for (auto& each : servers_) each.logged = std::min(each.logged, log_.size());
  zxid_ = ((zxid_ >> 32) + 1) << 32;
  at(leader_).serving = true;
  apply(leader_, committed_);
  for (int i : present) {
    if (!leads(i)) join(i);
  }
  advance();
  latest_ = at(leader_).data;
  sessions_ = durable_;
  for (auto& [id, each] : sessions_) each.expires = expiry(each.timeout);
  containers_due_ = clock_.now() + settings_.container_check;
}

}  // namespace zkrecipes::simulation
