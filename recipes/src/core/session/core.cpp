// The life of a session: what a connection brings and its loss takes, incarnations, the end.
#include "session/core.hpp"

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>

#include "backend/tls/tls_context.hpp"
#include "backend/wiped_credentials.hpp"
#include "backend/worded_errors.hpp"
#include "session/hook.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;

core::core(scheduler_ptr s, session_options options)
    : scheduler_(std::move(s)),
      options_(std::move(options)),
      log_(*scheduler_, options_),
      pause_(options_.retry.first_pause, options_.retry.max_pause),
      changed_(scheduler_),
      link_changed_(scheduler_),
      heartbeat_(scheduler_) {
  options_.trace = guarded(*scheduler_, std::move(options_.trace));
  auto hosts = parse_hosts(options_.hosts);
  names_ = std::move(hosts.servers);
  if (options_.tls) tls_ = std::make_shared<backend::tls_context>(*options_.tls);
  root_ = hosts.root + (options_.root == "/" ? "" : options_.root);
  credentials_ = std::move(options_.digest);
  options_.digest.clear();
}

core::~core() {
  if (watches_) watches_->stop();  // some watches may outlive us
  if (guardian_) guardian_->stop();
  backend::wipe(credentials_);
}

void core::start() {
  watches_ = std::make_shared<watch_registry>([this](watch_kind kind, const std::string& path) {
    if (!connected()) return;
    backend::request forget;
    forget.op = kind == watch_kind::data ? backend::opcode::forget_data : backend::opcode::forget_children;
    forget.path = path;
    send(std::move(forget));
  });
  call_guardian();
  for (const auto loop : {&core::run, &core::prove_life, &core::watch_lease}) {
    launch_detached(strand(), owning(shared_from_this(), &core::live_on, loop));
  }
}

/// Without these loops a session that looks well would be dead: they outlast a moment without memory.
awaitable<void> core::live_on(awaitable<void> (core::*loop)()) {
  bool is_first = true;
  const auto begin = [this, loop, &is_first] {
    if (!std::exchange(is_first, false)) log_.out_of_memory();
    return (this->*loop)();
  };
  co_await outlast(scheduler_, begin);
}

session_status core::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

session_counters core::counters() const {
  std::lock_guard lock(mutex_);
  return counters_;
}

awaitable<void> core::run() {
  co_await accept_cancellation();
  if (up_) {  // this loop has failed before: what it had is given up
    answer_all(errc::connection_loss);
    down(errc::connection_loss);
  }
  link_.reset();
  while (!closing_ && !ended_) {
    bool reached = co_await connect_somewhere();
    if (reached) {
      pause_.reset();
    } else if (!closing_ && !ended_) {
      co_await pause_before_next_round();
    }
  }
  link_.reset();
  end(errc::closed);
}

void core::up(const backend::session_key& granted) {
  up_ = true;
  const bool is_new = !incarnation_ || incarnation_->key.id != granted.id;
  if (is_new) {
    end_incarnation(errc::session_expired);
    incarnation_ = std::make_shared<incarnation>();
    servers_.begin_session();
  }
  incarnation_->key = granted;
  {
    std::lock_guard lock(mutex_);
    ++counters_.connects;
    if (is_new) incarnation_->number = ++counters_.incarnations;
    auto margin = options_.lease_margin.count() ? options_.lease_margin : granted.timeout / 10;
    if (is_new) {
      lease_.begin(options_.lease, granted.timeout, margin, asked_, now());
    } else {
      lease_.resume(granted.timeout, margin, asked_, now());
    }
  }
  next_probe_ = now() + lease_.interval();
  if (guardian_) guardian_->begin(granted);
  give_missing_credentials();
  send_first(is_new);
  heartbeat_.notify();  // first: a heartbeat precedes the requests of others, and renews the lease before their answers
  enter(session_state::connected, {});
  link_changed_.notify();
  log_.connected(server_);  // last: the hook may begin operations, which have to come behind `send_first`
  if (is_new) log_.incarnation_begun(incarnation_->number, granted.id, granted.timeout);
}

/// Sends the requests that the server has to execute before any request that waited for the connection.
void core::send_first(bool is_new) {
  // This server may be behind what another server has shown us. So a session that is taken up again begins with a
  // catch-up: no later read on this connection shows an older state. A new session needs none: it is a transaction
  // itself: the sync behind it only asks the leader for a sign.
  welcome_ = send(is_new ? make_request(backend::opcode::sync, "/") : backend::make_catch_up());
  welcome_number_ = is_new ? 0 : counters_.requests;
  create_root();
  look_at_root(is_new);
}

/// Leaves a server that has refused the catch-up, because its reads may show an older state than we have seen.
void core::forsake() {
  log_.operation_ended(backend::opcode::multi, full_path("/"), errc::server_error, "no catch-up: the server is left");
  served_ = false;
  has_lost_writes_ = true;
  answer_all(errc::connection_loss);
  down(errc::connection_loss);
}

/// Leaves a server that serves only sessions with credentials. It has executed nothing of this connection, and closes
/// it; the next try comes after a pause, because the user can add credentials.
void core::turn_away() {
  served_ = false;
  answer_all(errc::connection_loss);
  down(errc::auth_required);
}

/// Ends the session, because the servers have gone back to an older state than the session has seen: a backup was
/// restored. What we own may be missing there, and what we have given up may be there again, in the name of a session
/// that lives. Its orderly end removes all that, and the next session begins with what is there.
void core::leave_past() {
  note_service();
  is_past_ = true;
  log_.set_back(server_);
  answer_all(errc::connection_loss);
  watches_->connection_lost();
  end_incarnation(errc::session_expired);
  incarnation_.reset();
  servers_.begin_session();
  enter(session_state::expired, errc::session_expired);
  link_changed_.notify();
  heartbeat_.notify();
}

void core::answer_all(error_code error) {
  for (const auto& [number, each] : std::exchange(in_flight_, {})) {
    each->answer.emplace();
    each->answer->error = is_reply_lost(error) ? backend::loss_of(each->is_write, true) : error;
    each->done.notify();
  }
}

void core::down(error_code reason) {
  if (link_error_) return;  // it was left before: see `forsake` and `turn_away`
  const bool was_up = std::exchange(up_, false) && !is_past_;
  welcome_.reset();
  if (reason == errc::connection_loss) reason = backend::connection_lost();
  link_error_ = reason;
  if (was_up && !closing_ && reason != errc::auth_failed) log_.connection_lost(server_, reason);
  if (reason == boost::system::errc::protocol_error) served_ = false;  // a pause before the next round
  if (!served_ && !closing_) note_failure(server_, reason);
  if (reason == errc::timed_out) reason = backend::connection_lost();
  watches_->connection_lost();
  if (reason == errc::session_expired) {
    end_incarnation(reason);
    incarnation_.reset();
    servers_.begin_session();
    enter(session_state::expired, reason);
  } else if (reason == errc::auth_failed) {
    end(reason);
  } else if (was_up && !closing_) {
    enter(session_state::suspended, reason);
  } else if (reason == errc::no_descriptors && !closing_) {
    enter(status().state, reason);  // reported, because only the program can close other descriptors
  }
  link_changed_.notify();
  heartbeat_.notify();
}

void core::fired(const backend::watch_event& event) {
  {
    std::lock_guard lock(mutex_);
    ++counters_.watch_events;
  }
  watches_->fired(event.what, below_root(event.path));
}

void core::enter(session_state state, error_code reason) {
  {
    std::lock_guard lock(mutex_);
    status_.state = state;
    status_.reason = reason;
    status_.incarnation = counters_.incarnations;
    status_.session_id = incarnation_ ? incarnation_->key.id : 0;
    status_.timeout = incarnation_ ? incarnation_->key.timeout : 0ms;
    status_.server = state == session_state::connected ? backend::to_string(server_) : std::string();
    ++status_.changes;
  }
  if (state == session_state::connected) {
    scheduler_->reach->connected();
  } else {
    scheduler_->reach->disconnected();
  }
  changed_.notify();
}

void core::end_incarnation(error_code reason) {
  if (!incarnation_) return;
  {
    std::lock_guard lock(mutex_);
    if (!incarnation_->ended) incarnation_->lease_end = lease_.valid_until();
  }
  const bool is_first = !incarnation_->ended;
  incarnation_->ended = reason;
  if (guardian_ && reason == errc::session_expired) guardian_->end(incarnation_->key.id);
  if (is_first) log_.incarnation_ended(incarnation_->number, incarnation_->key.id, reason);
}

void core::end(error_code reason) {
  if (ended_) return;
  ended_ = reason;
  scheduler_->world->abandon_lookups();
  end_incarnation(errc::closed);
  if (guardian_) guardian_->leave();
  answer_all(reason);
  watches_->stop();
  watches_->connection_lost();
  log_.ended(reason, server_);
  enter(session_state::closed, reason);
  heartbeat_.notify();
}

awaitable<void> core::close() {
  if (!std::exchange(closing_, true)) give_up();
  while (!ended_) {
    auto why = co_await changed_.wait();
    if (why == wake::cancelled) break;
  }
}

awaitable<error_code> core::close_by(lease_clock::time_point deadline, diagnostic why) {
  ++closers_;
  close_by_ = std::min(close_by_, deadline);
  link_changed_.notify();
  co_await close();
  while (scheduler_->operations > closers_ && now() < deadline)
    co_await changed_.wait(std::min(deadline, now() + 10ms));
  std::string left;
  if (is_unconfirmed_) {
    left = backend::to_string(server_) + " has not confirmed the end of the session, which ends by its timeout";
  }
  const int others = scheduler_->operations - closers_--;
  if (others > 0) {
    left += (left.empty() ? "" : "; ") + std::to_string(others) +
            (others == 1 ? " operation has not ended" : " operations have not ended") +
            ": code of the program does not return";
  }
  why.note(left);
  co_return left.empty() ? error_code() : make_error_code(errc::timed_out);
}

/// Ends our lease before the close request is sent, because the server may let the next owner in long before its answer
/// reaches us.
void core::give_up() {
  {
    std::lock_guard lock(mutex_);
    given_up_ = true;
  }
  watches_->connection_lost();  // wakes every guard, which then sees that the incarnation has ended
  link_changed_.notify();
  end_incarnation(errc::closed);  // last: if there is no memory for the log, the session ends all the same
}

}  // namespace zkrecipes::detail
