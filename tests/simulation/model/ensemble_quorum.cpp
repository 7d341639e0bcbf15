// The servers among themselves: proposals, acknowledgements, commits, expiry of sessions, elections of leaders.
#include <algorithm>
#include <utility>

#include "model/ensemble.hpp"

namespace zkrecipes::simulation {

using backend::opcode;

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

// Requests of clients and their answers.
namespace {

/// Whether the request only shows that the session lives: a sync, or a transaction that only checks versions.
bool is_sign_of_life(const backend::request& what) {
  if (what.op == opcode::sync) return true;
  return what.op == opcode::multi &&
         std::all_of(what.operations.begin(), what.operations.end(),
                     [](const operation& each) { return each.type == operation::kind::check; });
}

}  // namespace

void ensemble::send(const connection_ptr& from, backend::request what) {
  if (std::exchange(from->lose_next_request, false)) {
    from->up->cut(from->up->on_its_way());
    return break_connection(from);
  }
  from->up->send([this, from, what = std::move(what)]() mutable { receive(from, {std::move(what)}); });
}

void ensemble::send_ping(const connection_ptr& from) {
  from->up->send([this, from] { receive(from, {{}, true}); });
}

void ensemble::receive(const connection_ptr& from, waiting_request what) {
  if (from->closed || !at(from->server).serving) return;
  touch(from->server, from->key.id);
  from->heard = clock_.now();
  if (!what.ping) {
    observer_.received(*from, what.what);
    if (from->closed) return;  // a fault at this step broke the connection
    if (what.what.op == opcode::authenticate) from->who.push_back(authenticate(*what.what.secret));
    what.who = from->who;
    what.throttled = at(from->server).throttling && is_sign_of_life(what.what);
    what.forwarded = !what.throttled && !is_read(what.what.op);
    if (what.forwarded) forward(from, what);
    if (from->closed) return;
  }
  from->waiting.push_back(std::move(what));
  work_off(from);
}

/// A deposed leader answers a sync unless a proposal waits to be committed: that never happens, so all later syncs
/// wait.
void ensemble::keep_waiting(const connection_ptr& from, const backend::request& what) {
  const bool is_next = !from->waiting.empty() && from->waiting.front().what.op == opcode::sync;
  if (what.op != opcode::sync || !is_next) deposed_.stuck = true;
  if (!deposed_.stuck) answer_sync(from->server, from);
}

void ensemble::forward(const connection_ptr& from, const waiting_request& asked) {
  if (at(from->server).deposed)
    return clock_.after(pipeline, [this, from, what = asked.what] {
      if (at(from->server).deposed) keep_waiting(from, what);
    });
  auto go = [this, from, asked, epoch = epoch_] {
    if (epoch != epoch_) return;
    if (asked.what.op == opcode::sync) {
      bool moved = false;
      check_session(from->key.id, from->server, moved);
      // The leader closes a connection of its own whose session has moved; a client of a follower is answered all the
      // same.
      if (moved && leads(from->server)) return close(from);
      lead_sync(from->server, from);
    } else {
      lead(from->server, from, asked);
    }
  };
  clock_.after(pipeline, [this, from, go = std::move(go)]() mutable {
    if (leads(from->server)) return go();
    if (at(from->server).to_leader) at(from->server).to_leader->send(std::move(go));
  });
}

/// Executes the waiting requests up to the first forwarded one: reads wait behind the writes of the same connection.
void ensemble::work_off(const connection_ptr& from) {
  while (!from->waiting.empty() && !from->waiting.front().forwarded && !from->closed) {
    auto next = std::move(from->waiting.front());
    from->waiting.pop_front();
    execute(from, next);
  }
}

backend::reply ensemble::refusal(const backend::request& what) {
  backend::reply throttled;
  throttled.error = errc::server_error;
  throttled.throttled = true;
  throttled.results.assign(what.operations.size(), {errc::server_error, {}, {}});
  return throttled;
}

void ensemble::execute(const connection_ptr& from, const waiting_request& what) {
  if (what.ping) {
    from->down->send([from] {
      if (from->end) from->end->ponged();
    });
    return;
  }
  auto& here = at(from->server);
  const auto& path = what.what.path;
  if (what.throttled) return answer(from, refusal(what.what));
  auto result = read(here.data, what.what, what.who);
  if (what.what.op == opcode::forget_data) here.watches.forget_data(path, *from);
  if (what.what.op == opcode::forget_children) here.watches.forget_children(path, *from);
  const bool watches = what.what.watch && (!result.error || what.what.op == opcode::exists);
  if (watches && what.what.op == opcode::children) here.watches.watch_children(path, from);
  if (watches && what.what.op != opcode::children) here.watches.watch_data(path, from);
  answer(from, std::move(result));
}

std::int64_t ensemble::last_zxid(int which) const {
  const auto applied = servers_[index(which)].applied;
  return applied > 0 ? log_[applied - 1]->zxid : std::int64_t{1} << 32;
}

void ensemble::answer(const connection_ptr& to, backend::reply with) {
  with.zxid = std::max(with.zxid, last_zxid(to->server));
  to->down->send([to, with = std::move(with)]() mutable {
    if (to->end) to->end->answered(std::move(with));
  });
}

/// The connection's oldest waiting request has come back from the leader, or a session was opened or closed.
void ensemble::answer_forwarded(const connection_ptr& to, const entry& what) {
  if (what.type == entry::kind::open_session) {
    to->key = what.key;
    to->heard = clock_.now();
    to->down->send([to] {
      if (to->end) to->end->granted(to->key);
    });
    return;
  }
  if (what.type == entry::kind::close_session) return close(to);
  if (what.moved || std::exchange(to->lose_next_answer, false)) return close(to);
  to->waiting.pop_front();
  auto with = what.answer;
  with.zxid = what.zxid;
  answer(to, std::move(with));
  work_off(to);
}

error_code ensemble::check_session(std::int64_t session, int from, bool& moved) {
  auto found = sessions_.find(session);
  if (found == sessions_.end()) return errc::server_error;
  if (found->second.closing) return errc::session_expired;
  if (found->second.owner < 0) found->second.owner = from;
  moved = found->second.owner != from;
  return moved ? errc::connection_loss : error_code();
}

void ensemble::lead(int from, const connection_ptr& by, const waiting_request& asked) {
  const auto& what = asked.what;
  entry next;
  next.session = by->key.id;
  next.asked = by;
  const auto session = by->key.id;
  ++zxid_;
  const auto shown = clock_.now() + at(leader_).clock_ahead;
  const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(shown).count();
  const auto error = check_session(session, from, next.moved);
  if (error) {
    next.answer.error = error;
    if (what.op == opcode::multi) next.answer.results.assign(what.operations.size(), {errc::rolled_back, {}, {}});
  } else {
    auto done = prepare(latest_, what, asked.who, session, zxid_, time);
    next.answer = std::move(done.answer);
    next.changes = std::move(done.changes);
  }
  next.time_ms = time;
  propose(std::move(next));
}

/// Answers once everything proposed so far is committed. The answer travels behind these commits to the server.
void ensemble::lead_sync(int from, const connection_ptr& asked) {
  if (committed_ < log_.size()) return syncs_.push_back({log_.size(), from, asked});
  answer_sync(from, asked);
}

void ensemble::answer_sync(int from, const connection_ptr& asked) {
  auto done = [this, asked] {
    if (asked->closed) return;
    entry result;
    result.answer.path = asked->waiting.front().what.path;
    answer_forwarded(asked, result);
  };
  if (believes_to_lead(from)) return done();
  if (at(from).commits) at(from).commits->send(std::move(done));
}

}  // namespace zkrecipes::simulation
