// Requests of clients and their answers.
#include <algorithm>
#include <utility>

#include "model/ensemble.hpp"

namespace zkrecipes::simulation {

using backend::opcode;

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
