#include "broker/broker_connection.hpp"

#include <utility>

#include "session/hook.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

namespace {

/// What the names of the brokers mean. It may come when nobody waits for it any more.
struct found_names {
  explicit found_names(const scheduler_ptr& on) : arrived(on) {}

  condition arrived;
  bool is_there = false;
  std::vector<backend::resolved_name> names{};
};

}  // namespace

broker_connection::broker_connection(broker_frame_ptr frame)
    : frame_(std::move(frame)),
      log_(guarded(*frame_->session->get_scheduler(), frame_->session->options().log)),
      changed_(frame_->session->get_scheduler()),
      pause_(frame_->retry.first_pause, frame_->retry.max_pause) {}

broker_connection::~broker_connection() { close(); }

void broker_connection::close() {
  is_ready_ = false;
  if (auto link = std::exchange(link_, nullptr)) link->abandon();
  is_fresh_ = true;
}

awaitable<error_code> broker_connection::ready(lease_clock::time_point until) {
  const auto session = frame_->session;
  while (!is_up()) {
    tell_end();
    if (session->over()) co_return session->over();
    if (!std::exchange(is_fresh_, false)) {
      const bool is_rested = co_await session->rest(pause_);
      if (!is_rested) co_return session->over() ? session->over() : make_error_code(asio::error::operation_aborted);
    }
    auto error = co_await try_brokers();
    const bool is_late = session->now() >= until;
    if (error && (is_late || !frame_->may_recover(error))) co_return error;
  }
  co_return error_code();
}

void broker_connection::tell_end() {
  if (!is_ready_ || is_up()) return;
  is_ready_ = false;
  tell(log_severity::warning, session_event::connection_lost, link_->why(), link_->reason());
}

/// Goes round all addresses once.
awaitable<error_code> broker_connection::try_brokers() {
  refresh_certificates();
  auto brokers = co_await resolve();
  auto error = frame_->unavailable;
  for (auto& each : brokers) {
    error = co_await try_broker(std::move(each));
    if (!error) {
      ++number_;
      is_ready_ = true;
      told_.clear();
      tell(log_severity::info, session_event::connected, {}, {});
      co_return error;
    }
    if (auto link = std::exchange(link_, nullptr)) link->abandon();
    if (is_cancelled(error)) co_return error;
    tell_failure(error, last_detail_);
    if (!frame_->may_recover(error)) co_return error;
  }
  co_return error;
}

awaitable<std::vector<broker_connection::candidate>> broker_connection::resolve() {
  const auto& scheduler = frame_->session->get_scheduler();
  auto found = std::make_shared<found_names>(scheduler);
  scheduler->world->resolve(frame_->brokers, [found](std::vector<backend::resolved_name> names) {
    found->is_there = true;
    found->names = std::move(names);
    found->arrived.notify();
  });
  const auto until = scheduler->now() + timeout();
  if (!found->is_there) co_await found->arrived.wait(until);
  std::vector<candidate> all;
  for (const auto& each : found->names) {
    if (each.addresses.empty()) {
      server_ = backend::to_string(each.name);
      tell_failure(frame_->unavailable, "the name has no address");
    }
    for (const auto& at : each.addresses) all.push_back({at, each.name.address});
  }
  co_return all;
}

void broker_connection::refresh_certificates() {
  using change = backend::tls_context::change;
  std::string problem;
  const auto found = frame_->tls ? frame_->tls->refresh(problem) : change::none;
  if (found == change::reloaded) tell(log_severity::info, session_event::certificates_reloaded, {}, {});
  if (found != change::unusable) return;
  problem += "; what was read before stays in use";
  tell(log_severity::warning, session_event::certificates_unusable, {}, problem);
}

awaitable<error_code> broker_connection::try_broker(candidate broker) {
  server_ = backend::to_string(broker.at);
  const auto& scheduler = frame_->session->get_scheduler();
  const auto deadline = scheduler->now() + timeout();
  auto stream = scheduler->world->open_broker(broker.at, broker.name, frame_->tls);
  link_ = make_link(std::move(stream), [this] { changed_.notify(); });
  link_->connect(broker.at);
  auto error = co_await await_link(deadline);
  if (!error) error = co_await greet(deadline);
  co_return error;
}

awaitable<error_code> broker_connection::await_link(lease_clock::time_point deadline) {
  while (!link_->is_up() && !link_->is_over()) {
    const auto why = co_await changed_.wait(deadline);
    if (why == wake::cancelled) co_return asio::error::operation_aborted;
    if (why == wake::notified) continue;
    last_detail_ = "no connection within " + std::to_string(timeout().count()) + " ms";
    co_return frame_->unavailable;
  }
  if (link_->is_up()) co_return error_code();
  last_detail_ = link_->reason();
  co_return link_->why();
}

void broker_connection::give_up(const error_code& why, std::string_view detail) {
  tell_failure(why, detail);
  close();
  is_fresh_ = false;
}

/// A reason that repeats itself with each try is told once.
void broker_connection::tell_failure(const error_code& why, std::string_view detail) {
  auto now = server_ + ' ' + why.message() + ' ' + std::string(detail);
  if (now == told_) return;
  told_ = std::move(now);
  const bool is_refusal = why == frame_->refused_credentials;
  const auto event = is_refusal ? session_event::authentication_failed : session_event::connect_failed;
  tell(frame_->may_recover(why) ? log_severity::warning : log_severity::error, event, why, detail);
}

void broker_connection::tell(log_severity severity, session_event event, const error_code& why,
                             std::string_view detail) {
  if (!log_) return;
  const auto server = frame_->kind + ' ' + server_;
  log_event told;
  told.severity = severity;
  told.event = event;
  told.server = server;
  told.error = why;
  told.detail = detail;
  log_(told);
}

}  // namespace zkrecipes::detail
