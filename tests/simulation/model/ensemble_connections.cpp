// The beginning and the end of connections and sessions.
#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "model/ensemble.hpp"

namespace zkrecipes::simulation {

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

}  // namespace zkrecipes::simulation
