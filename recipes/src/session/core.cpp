// The life of a session: connecting, staying alive, incarnations, the end.
#include "session/core.hpp"

#include <algorithm>
#include <utility>

#include "session/hook.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;

core::core(scheduler_ptr s, session_options options)
    : scheduler_(std::move(s)),
      options_(std::move(options)),
      changed_(scheduler_),
      link_changed_(scheduler_),
      heartbeat_(scheduler_) {
  options_.trace = guarded(*scheduler_, std::move(options_.trace));
  auto hosts = parse_hosts(options_.hosts);
  names_ = std::move(hosts.servers);
  root_ = hosts.root + (options_.root == "/" ? "" : options_.root);
}

core::~core() {
  if (watches_) watches_->stop();  // some watches may outlive us
}

void core::start() {
  watches_ = std::make_shared<watch_registry>([this](watch_kind kind, const std::string& path) {
    if (!connected()) return;
    backend::request forget;
    forget.op = kind == watch_kind::data ? backend::opcode::forget_data : backend::opcode::forget_children;
    forget.path = path;
    send(std::move(forget));
  });
  launch_detached(strand(), owning(shared_from_this(), &core::run));
  launch_detached(strand(), owning(shared_from_this(), &core::prove_life));
  launch_detached(strand(), owning(shared_from_this(), &core::watch_lease));
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
  while (!closing_ && !ended_) {
    bool reached = co_await connect_somewhere();
    if (reached) {
      pause_ = 0ms;
    } else if (!closing_ && !ended_) {
      co_await pause_before_next_round();
    }
  }
  link_.reset();
  end(errc::closed);
}

/// One round over the servers: tries one after the other until one has answered us. False: none has.
awaitable<bool> core::connect_somewhere() {
  co_await resolve_names();
  auto servers = servers_.in_turn([this] { return scheduler_->world->random(); }, now());
  for (auto& each : servers) {
    if (closing_ || ended_) break;
    bool reached = co_await connect_to(std::move(each));
    if (reached) co_return true;
  }
  co_return false;
}

awaitable<void> core::resolve_names() {
  auto answered = std::make_shared<bool>(false);
  scheduler_->world->resolve(names_, [self = shared_from_this(), answered](std::vector<backend::resolved_name> all) {
    self->servers_.resolved(std::move(all));
    *answered = true;
    self->link_changed_.notify();
  });
  // If servers are known already, wait for `first_pause` only: a slow resolver must not cost us the session.
  const auto deadline = servers_.empty() ? never : now() + options_.retry.first_pause;
  while (!*answered && !closing_) {
    auto why = co_await link_changed_.wait(deadline);
    if (why == wake::timed_out) break;
  }
  if (servers_.empty() && !closing_) enter(session_state::connecting, errc::no_servers);
}

awaitable<bool> core::connect_to(backend::endpoint server) {
  up_ = served_ = false;
  link_error_.clear();
  has_lost_writes_ = false;
  server_ = server;
  asked_ = now();
  const auto deadline = asked_ + connect_timeout();
  backend::session_key key;
  key.timeout = options_.timeout;
  if (incarnation_) key = incarnation_->key;
  link_ = scheduler_->world->connect({std::move(server), std::move(key), options_.digest}, *this);
  while (!up_ && !link_error_ && !closing_) {
    auto why = co_await link_changed_.wait(deadline);
    if (why == wake::timed_out) break;
  }
  if (up_) {
    co_await serve();
    co_return served_;
  }
  link_.reset();
  co_return link_error_ == errc::session_expired;  // the server has answered: the next round needs no pause
}

awaitable<void> core::serve() {
  while (up_ && !closing_) co_await link_changed_.wait();
  if (up_) {
    link_->close_session();
    const auto deadline = now() + connect_timeout();
    while (up_) {
      auto why = co_await link_changed_.wait(deadline);
      if (why == wake::timed_out) break;
    }
  }
  up_ = false;
  link_.reset();
  if (!has_lost_writes_ || !incarnation_) co_return;
  if (link_error_ == errc::timed_out) {
    servers_.note_silent(server_, now(), incarnation_->key.timeout);
  } else {
    servers_.note_unread(server_);
  }
}

awaitable<void> core::pause_before_next_round() {
  pause_ = std::clamp(pause_ * 2, options_.retry.first_pause, options_.retry.max_pause);
  const auto jitter = std::chrono::milliseconds(scheduler_->world->random() % (pause_.count() + 1));
  const auto until = now() + pause_ / 2 + jitter;
  while (!closing_) {
    auto why = co_await link_changed_.wait(until);
    if (why == wake::timed_out) break;
  }
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
  send_first(is_new);
  heartbeat_.notify();  // first: a heartbeat precedes the requests of others, and renews the lease before their answers
  enter(session_state::connected, {});
  link_changed_.notify();
}

/// Sends the requests that the server has to execute before any request that waited for the connection.
void core::send_first(bool is_new) {
  // This server may be behind what another server has shown us. So a session that is taken up again begins with a
  // catch-up: no later read on this connection shows an older state. A new session needs none: it is a transaction
  // itself: the sync behind it only asks the leader for a sign.
  welcome_ = send(is_new ? make_request(backend::opcode::sync, "/") : backend::make_catch_up());
  welcome_number_ = is_new ? 0 : counters_.requests;
  if (!options_.create_root || root_.empty()) return;
  for (std::size_t end = 1; end != root_.npos;) {
    end = root_.find('/', end + 1);
    auto create = make_request(backend::opcode::create, root_.substr(0, end));
    create.access = open_acl();
    link_->submit(std::move(create), [this](const backend::reply& answer) {
      has_lost_writes_ = has_lost_writes_ || is_reply_lost(answer.error);
    });
  }
}

/// Leaves a server that has refused the catch-up, because its reads may show an older state than we have seen.
void core::forsake() {
  served_ = false;
  has_lost_writes_ = true;
  answer_all(errc::connection_loss);
  down(errc::connection_loss);
}

void core::answer_all(error_code error) {
  for (const auto& [number, each] : std::exchange(in_flight_, {})) {
    each->answer.emplace();
    each->answer->error = error;
    each->done.notify();
  }
}

void core::down(error_code reason) {
  const bool was_up = std::exchange(up_, false);
  welcome_.reset();
  link_error_ = reason;
  if (reason == errc::timed_out) reason = errc::connection_loss;
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
  changed_.notify();
}

void core::end_incarnation(error_code reason) {
  if (!incarnation_) return;
  {
    std::lock_guard lock(mutex_);
    if (!incarnation_->ended) incarnation_->lease_end = lease_.valid_until();
  }
  incarnation_->ended = reason;
}

void core::end(error_code reason) {
  if (ended_) return;
  ended_ = reason;
  end_incarnation(errc::closed);
  answer_all(reason);
  watches_->stop();
  watches_->connection_lost();
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

/// Ends our lease before the close request is sent, because the server may let the next owner in long before its answer
/// reaches us.
void core::give_up() {
  {
    std::lock_guard lock(mutex_);
    given_up_ = true;
  }
  end_incarnation(errc::closed);
  watches_->connection_lost();  // wakes every guard, which then sees that the incarnation has ended
  link_changed_.notify();
}

std::chrono::milliseconds core::connect_timeout() const {
  if (options_.connect_timeout.count()) return options_.connect_timeout;
  return std::max<std::chrono::milliseconds>(options_.timeout / (servers_.size() + 1), 100ms);
}

}  // namespace zkrecipes::detail
