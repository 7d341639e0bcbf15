// How a session finds a server that takes it.
#include <algorithm>
#include <mutex>
#include <utility>

#include "backend/tls/tls_context.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;

namespace {

/// After so long without an answer the log tells which server the session waits for.
constexpr std::chrono::milliseconds silence_to_report{1'000};

}  // namespace

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
    self->note_names(std::move(all));
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
  auto names = servers_.names_of(server);
  if (tls_ && names.empty()) co_return false;  // its name leads elsewhere by now
  up_ = served_ = false;
  link_error_.clear();
  has_lost_writes_ = false;
  server_ = server;
  asked_ = now();
  const auto deadline = asked_ + connect_timeout();
  backend::session_key key;
  key.timeout = options_.timeout;
  if (incarnation_) key = incarnation_->key;
  refresh_certificates();
  backend::link_options with{server, std::move(key), credentials_, tls_, std::move(names)};
  given_credentials_ = credentials_.size();
  link_ = scheduler_->world->connect(std::move(with), *this);
  auto reminder = log_.is_on() ? asked_ + silence_to_report : never;
  while (!up_ && !link_error_ && !closing_ && now() < deadline) {
    auto why = co_await link_changed_.wait(std::min(reminder, deadline));
    if (why == wake::timed_out && std::exchange(reminder, never) < deadline) {
      log_.waiting_for_answer(server_, silence_to_report, connect_timeout());
    }
  }
  if (up_) {
    co_await serve();
    co_return served_;
  }
  link_.reset();
  if (!link_error_ && !closing_) note_failure(server_, errc::timed_out);
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
  const auto until = pause_.next(*scheduler_);
  while (!closing_) {
    auto why = co_await link_changed_.wait(until);
    if (why == wake::timed_out) break;
  }
}

void core::note_names(std::vector<backend::resolved_name> all) {
  if (closing_ || ended_) return;  // the log hook is not called any more
  for (const auto& each : all) {
    if (!each.addresses.empty()) continue;
    log_.name_not_resolved(each.name);
    failures_.note(backend::to_string(each.name), errc::no_servers, scheduler_->world->wall_clock());
  }
  const auto names = all;
  servers_.resolved(std::move(all));
  failures_.keep_only(names, servers_.all());
  publish_failures();
}

void core::note_failure(const backend::endpoint& server, const error_code& error) {
  log_.connect_failed(failures_.note(backend::to_string(server), error, scheduler_->world->wall_clock()));
  publish_failures();
}

/// The present server has answered a request.
void core::note_service() {
  served_ = true;
  servers_.note_read(server_);
  failures_.forget(backend::to_string(server_));
  publish_failures();
}

void core::refresh_certificates() {
  std::string problem;
  if (!tls_) return;
  const auto found = tls_->refresh(problem);
  if (found == backend::tls_context::change::none) return;
  const bool is_usable = found == backend::tls_context::change::reloaded;
  if (!is_usable) problem += "; what was read before stays in use";
  log_.certificates_changed(is_usable, problem);
}

void core::publish_failures() {
  std::lock_guard lock(mutex_);
  status_.failures = failures_.all();
}

std::chrono::milliseconds core::connect_timeout() const {
  if (options_.connect_timeout.count()) return options_.connect_timeout;
  return std::max<std::chrono::milliseconds>(options_.timeout / (servers_.size() + 1), 100ms);
}

}  // namespace zkrecipes::detail
