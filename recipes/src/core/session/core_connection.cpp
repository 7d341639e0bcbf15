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

/// One round over the servers: tries one after the other until one has answered us. What becomes known of their names
/// meanwhile counts at once. False: none has.
awaitable<bool> core::connect_somewhere() {
  co_await look_names_up();
  std::vector<backend::endpoint> asked, known, servers;
  for (;;) {
    if (known != servers_.all()) {
      known = servers_.all();
      servers = servers_.in_turn([this] { return scheduler_->world->random(); }, now());
      std::erase_if(servers, [&](const auto& each) { return std::ranges::find(asked, each) != asked.end(); });
    }
    if (servers.empty() || closing_ || ended_) co_return false;
    auto next = std::move(servers.front());
    servers.erase(servers.begin());
    asked.push_back(next);
    bool reached = co_await connect_to(std::move(next));
    if (reached) co_return true;
  }
}

awaitable<bool> core::connect_to(backend::endpoint server) {
  auto names = servers_.names_of(server);
  if (tls_ && names.empty()) co_return false;  // its name leads elsewhere by now
  up_ = served_ = is_past_ = false;
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
  // An address to which no name leads any more is not waited for.
  while (!up_ && !link_error_ && !closing_ && now() < deadline && servers_.has(server_)) {
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
  if (!link_error_ && !closing_ && servers_.has(server_)) {
    servers_.ask_late(server_);
    note_failure(server_, errc::timed_out);
  }
  co_return link_error_ == errc::session_expired;  // the server has answered: the next round needs no pause
}

awaitable<void> core::serve() {
  while (up_ && !closing_ && !is_past_) co_await link_changed_.wait();
  if (up_) {
    link_->close_session();
    const auto deadline = now() + connect_timeout();
    while (up_) {
      auto why = co_await link_changed_.wait(std::min(deadline, close_by_));
      if (why == wake::timed_out) break;
    }
    is_unconfirmed_ = up_ && closing_;
  }
  up_ = false;
  link_.reset();
  const bool is_silent = link_error_ == errc::timed_out;
  if (is_silent) servers_.ask_late(server_);
  if (!has_lost_writes_ || !incarnation_) co_return;
  if (is_silent) {
    servers_.note_silent(server_, now(), incarnation_->key.timeout);
  } else {
    servers_.note_unread(server_);
  }
}

awaitable<void> core::pause_before_next_round() {
  const auto until = pause_.next(*scheduler_);
  const auto known = servers_.all();
  while (!closing_ && std::ranges::is_permutation(known, servers_.all())) {
    auto why = co_await link_changed_.wait(until);
    if (why == wake::timed_out) break;
  }
}

void core::note_failure(const backend::endpoint& server, const error_code& error) {
  log_.connect_failed(
      failures_.note(backend::to_string(server), reason_of(error), error, scheduler_->world->wall_clock()));
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
  // So many servers of an ensemble may be silent, and each of them is waited for. Two thirds of the timeout have passed
  // by then, and the lease ends at nine tenths. Fewer than three servers can do without none.
  const auto servers = servers_.size();
  const auto part = servers < 3 ? servers + 1 : 5 * ((servers - 1) / 2);
  return std::max<std::chrono::milliseconds>(options_.timeout / part, 100ms);
}

}  // namespace zkrecipes::detail
