#include "model/ensemble.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace zkrecipes::simulation {

using event_kind = backend::change;

void watch_table::add(table& to, const std::string& path, const connection_ptr& who) {
  auto& watchers = to[path];
  if (std::find(watchers.begin(), watchers.end(), who) == watchers.end()) watchers.push_back(who);
}

void watch_table::take(table& from, const std::string& path, const connection& who) {
  auto found = from.find(path);
  if (found == from.end()) return;
  std::erase_if(found->second, [&](const connection_ptr& each) { return each.get() == &who; });
  if (found->second.empty()) from.erase(found);
}

void watch_table::forget(const connection& who) {
  for (auto* each : {&data_, &children_}) {
    for (auto it = each->begin(); it != each->end();) {
      std::erase_if(it->second, [&](const connection_ptr& one) { return one.get() == &who; });
      it = it->second.empty() ? each->erase(it) : std::next(it);
    }
  }
}

std::vector<connection_ptr> watch_table::fire(table& from, std::string_view path) {
  auto found = from.find(path);
  if (found == from.end()) return {};
  auto watchers = std::move(found->second);
  from.erase(found);
  return watchers;
}

void watch_table::happening(const change& what, const tree& nodes, const teller& tell) {
  using kind = change::kind;
  if (what.type == kind::set_acl || size() == 0) return;
  auto tell_readers = [&](const acl& access, const connection_ptr& who, const backend::watch_event& event) {
    if (!who->may_not_hear && allows(access, perm_read, who->who)) tell(who, event);
  };
  const auto& access = what.type == kind::create ? what.access : nodes.find(what.path)->access;
  const auto told = fire(data_, what.path);
  const auto event = what.type == kind::set      ? event_kind::data
                     : what.type == kind::create ? event_kind::created
                                                 : event_kind::deleted;
  for (const auto& each : told) tell_readers(access, each, {event, what.path});
  if (what.type == kind::set) return;
  if (what.type == kind::remove) {
    for (const auto& each : fire(children_, what.path)) {
      if (std::find(told.begin(), told.end(), each) == told.end()) tell_readers(access, each, {event, what.path});
    }
  }
  const auto parent = parent_path(what.path);
  for (const auto& each : fire(children_, parent))
    tell_readers(nodes.find(parent)->access, each, {event_kind::children, std::string(parent)});
}

// The beginning and the end of connections and sessions.
ensemble::~ensemble() {
  for (const auto& each : made_) {
    auto alive = each.lock();
    if (!alive) continue;
    alive->up->cut(0);  // the messages in a pipe own the connection: drop them to break the cycle
    alive->down->cut(0);
  }
}

connection_ptr ensemble::connect(int client, int which, const backend::link_options& options, peer& end) {
  auto made = std::make_shared<connection>();
  std::erase_if(made_, [](const auto& each) { return each.expired(); });
  made_.push_back(made);
  made->number = ++connections_;
  made->client = client;
  made->server = which;
  made->end = &end;
  made->who = authenticate(options.digest);
  const auto& s = settings_;
  made->up = std::make_shared<pipe>(clock_, seed_, 1000 + pipes_++, s.least_delay, s.max_delay);
  made->down = std::make_shared<pipe>(clock_, seed_, 1000 + pipes_++, s.least_delay, s.max_delay);
  if (at(which).stopped) made->up->freeze();
  made->up->send([this, made, asked = options.key] { greet(made, asked); });
  return made;
}

void ensemble::greet(const connection_ptr& who, backend::session_key asked) {
  auto& here = at(who->server);
  if (!here.serving || here.refusing || !reaches(who->client, who->server)) return close(who);
  if (here.silent) return;
  here.connections[who->number] = who;
  asked.timeout = std::clamp<std::chrono::milliseconds>(
      asked.timeout, std::chrono::duration_cast<std::chrono::milliseconds>(2 * settings_.tick),
      std::chrono::duration_cast<std::chrono::milliseconds>(20 * settings_.tick));
  if (asked.id == 0) {
    asked.id = ++last_session_;
    asked.password = std::to_string(chance_.draw());
    if (leads(who->server)) return open_session(who, std::move(asked));
    if (here.deposed) deposed_.stuck = true;
    if (!here.to_leader) return;
    here.to_leader->send([this, who, asked, epoch = epoch_] {
      if (epoch == epoch_) open_session(who, asked);
    });
    return;
  }
  auto open = here.connections;
  for (auto& [number, each] : open) {
    if (each != who && each->key.id == asked.id) close(each);
  }
  if (believes_to_lead(who->server)) return validate(who->server, who, asked);
  if (!here.to_leader) return;
  here.to_leader->send([this, who, asked, epoch = epoch_] {
    if (epoch == epoch_) validate(who->server, who, asked);
  });
}

void ensemble::validate(int which, const connection_ptr& who, const backend::session_key& asked) {
  auto& known = sessions_at(which);
  auto found = known.find(asked.id);
  // A deposed leader lets sessions expire as well, but the end of a session that it proposes is never committed.
  const bool valid = found != known.end() && !found->second.closing && found->second.password == asked.password &&
                     !(at(which).deposed && found->second.expires <= clock_.now());
  if (valid) {
    found->second.owner = which;
    found->second.timeout = asked.timeout;
    found->second.expires = expiry(asked.timeout);  // it may become earlier
  }
  auto tell = [this, who, asked, valid] {
    if (who->closed) return;
    if (!valid) {
      who->down->send([who] {
        if (who->end) who->end->refused();
      });
      return close(who);
    }
    who->key = asked;
    who->heard = clock_.now();
    who->down->send([who] {
      if (who->end) who->end->granted(who->key);
    });
  };
  if (believes_to_lead(which)) return tell();
  if (at(which).orders) at(which).orders->send(std::move(tell));
}

void ensemble::send_close(const connection_ptr& from) {
  from->up->send([this, from] {
    if (from->closed) return;
    clock_.after(pipeline, [this, from] { forward_close(from); });
  });
}

void ensemble::forward_close(const connection_ptr& from) {
  if (leads(from->server)) return close_session(from->key.id, from);
  if (at(from->server).deposed) deposed_.stuck = true;
  if (!at(from->server).to_leader) return;
  at(from->server).to_leader->send([this, from, epoch = epoch_] {
    if (epoch == epoch_) close_session(from->key.id, from);
  });
}

void ensemble::drop(const connection_ptr& from) {
  from->end = nullptr;
  if (from->closed) return;
  // An orderly close arrives after everything that was sent. A reset overtakes some of it, which is lost.
  from->up->send([this, from] { close(from); });
  if (from->up->frozen() || chance_.one_in(2)) return;
  from->up->cut(chance_.below(from->up->on_its_way()));
  clock_.after(settings_.max_delay, [this, from] { close(from); });
}

void ensemble::close(const connection_ptr& which) {
  if (std::exchange(which->closed, true)) return;
  at(which->server).connections.erase(which->number);
  at(which->server).watches.forget(*which);
  which->waiting.clear();
  which->down->send([which] {
    if (which->end) which->end->broken();
  });
}

/// A server closes a connection on which nothing came for longer than the session's timeout, even if the session has
/// moved to another server.
void ensemble::close_silent() {
  for (auto& each : servers_) {
    if (each.stopped) continue;
    const auto open = each.connections;
    for (const auto& [number, one] : open) {
      if (one->key.id != 0 && clock_.now() - one->heard > one->key.timeout) close(one);
    }
  }
}

void ensemble::close_all(int which) {
  auto open = at(which).connections;
  for (auto& [number, each] : open) close(each);
}

void ensemble::open_session(const connection_ptr& asked, backend::session_key key) {
  sessions_[key.id] = {key.password, key.timeout, expiry(key.timeout), asked->server, false};
  entry next;
  next.type = entry::kind::open_session;
  next.session = key.id;
  next.asked = asked;
  next.key = std::move(key);
  ++zxid_;
  propose(std::move(next));
}

void ensemble::close_session(std::int64_t session, std::weak_ptr<connection> asked) {
  auto found = sessions_.find(session);
  if (found != sessions_.end()) found->second.closing = true;
  entry next;
  next.type = entry::kind::close_session;
  next.session = session;
  next.asked = std::move(asked);
  ++zxid_;
  for (const auto& path : latest_.ephemerals(session)) {
    change gone;
    gone.type = change::kind::remove;
    gone.path = path;
    latest_.apply(gone, zxid_, 0);
    next.changes.push_back(std::move(gone));
  }
  propose(std::move(next));
}

// Faults of the ensemble.
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
