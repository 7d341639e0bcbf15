#include "redis/redis_connection.hpp"

#include <utility>

#include <hiredis/hiredis.h>

#include <zkrecipes/redis_error.hpp>

#include "redis/reply_text.hpp"
#include "redis/stream_replies.hpp"
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

/// The replies to the first commands of a connection.
struct redis_connection::greeting {
  std::vector<std::vector<std::string>> commands{};
  std::vector<int> types{};
  std::size_t answered = 0;
  error_code error{};
  std::string detail{};
};

redis_connection::redis_connection(redis_frame_ptr frame)
    : frame_(std::move(frame)),
      log_(guarded(*frame_->session->get_scheduler(), frame_->session->options().log)),
      changed_(frame_->session->get_scheduler()),
      pause_(frame_->options.retry.first_pause, frame_->options.retry.max_pause) {}

redis_connection::~redis_connection() { close(); }

void redis_connection::close() {
  is_ready_ = false;
  if (auto link = std::exchange(link_, nullptr)) link->abandon();
  is_fresh_ = true;
}

void redis_connection::send(const std::vector<std::string>& command, redis_link::reply_handler handler) {
  if (link_) link_->send(command, std::move(handler));
}

awaitable<error_code> redis_connection::ready(lease_clock::time_point until) {
  const auto session = frame_->session;
  while (!is_up()) {
    if (is_ready_)
      tell(log_severity::warning, session_event::connection_lost, redis_errc::unavailable, link_->reason());
    is_ready_ = false;
    if (session->over()) co_return session->over();
    if (!std::exchange(is_fresh_, false)) {
      const bool is_rested = co_await session->rest(pause_);
      if (!is_rested) co_return session->over() ? session->over() : make_error_code(asio::error::operation_aborted);
    }
    auto error = co_await try_brokers();
    const bool is_late = session->now() >= until;
    if (error && (is_late || !may_recover(error))) co_return error;
  }
  co_return error_code();
}

/// Goes round all addresses once.
awaitable<error_code> redis_connection::try_brokers() {
  refresh_certificates();
  auto brokers = co_await resolve();
  error_code error = redis_errc::unavailable;
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
    if (!may_recover(error)) co_return error;
  }
  co_return error;
}

awaitable<std::vector<redis_connection::candidate>> redis_connection::resolve() {
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
      tell_failure(redis_errc::unavailable, "the name has no address");
    }
    for (const auto& at : each.addresses) all.push_back({at, each.name.address});
  }
  co_return all;
}

void redis_connection::refresh_certificates() {
  using change = backend::tls_context::change;
  std::string problem;
  const auto found = frame_->tls ? frame_->tls->refresh(problem) : change::none;
  if (found == change::reloaded) tell(log_severity::info, session_event::certificates_reloaded, {}, {});
  if (found != change::unusable) return;
  problem += "; what was read before stays in use";
  tell(log_severity::warning, session_event::certificates_unusable, {}, problem);
}

std::optional<backend::tls_context::connection> redis_connection::secure(const candidate& broker) const {
  if (!frame_->tls) return std::nullopt;
  return frame_->tls->make(backend::to_string(broker.at), {broker.name});
}

awaitable<error_code> redis_connection::try_broker(candidate broker) {
  server_ = backend::to_string(broker.at);
  const auto deadline = frame_->session->now() + timeout();
  const auto& strand = frame_->session->strand();
  link_ = std::make_shared<redis_link>(strand, secure(broker), [this] { changed_.notify(); });
  link_->connect(broker.at);
  auto error = co_await await_link(deadline);
  if (!error) error = co_await greet(deadline);
  co_return error;
}

awaitable<error_code> redis_connection::await_link(lease_clock::time_point deadline) {
  while (!link_->is_up() && !link_->is_over()) {
    const auto why = co_await changed_.wait(deadline);
    if (why == wake::cancelled) co_return asio::error::operation_aborted;
    if (why == wake::notified) continue;
    last_detail_ = "no connection within " + std::to_string(timeout().count()) + " ms";
    co_return redis_errc::unavailable;
  }
  if (link_->is_up()) co_return error_code();
  last_detail_ = link_->reason();
  co_return redis_errc::unavailable;
}

/// Authenticates, selects the database, and asks whether the broker is a primary, in one round trip.
awaitable<error_code> redis_connection::greet(lease_clock::time_point deadline) {
  auto first = std::make_shared<greeting>();
  const auto& options = frame_->options;
  const auto add = [&first](std::vector<std::string> command, int type) {
    first->commands.push_back(std::move(command));
    first->types.push_back(type);
  };
  std::vector<std::string> auth{"AUTH", options.password};
  if (!options.user.empty()) auth.insert(auth.begin() + 1, options.user);
  if (!options.password.empty()) add(std::move(auth), REDIS_REPLY_STATUS);
  if (options.database != 0) add({"SELECT", std::to_string(options.database)}, REDIS_REPLY_STATUS);
  add({"ROLE"}, REDIS_REPLY_ARRAY);
  for (std::size_t step = 0; step < first->commands.size(); ++step) {
    link_->send(first->commands[step],
                [this, first, step](const redisReply* reply) { note_answer(*first, step, reply); });
  }
  while (first->answered < first->commands.size() && !first->error && !link_->is_over()) {
    const auto why = co_await changed_.wait(deadline);
    if (why == wake::cancelled) co_return asio::error::operation_aborted;
    if (why == wake::notified) continue;
    last_detail_ = "no answer within " + std::to_string(timeout().count()) + " ms";
    co_return redis_errc::unavailable;
  }
  const bool is_lost = !first->error && first->answered < first->commands.size();
  last_detail_ = is_lost ? link_->reason() : first->detail;
  co_return is_lost ? make_error_code(redis_errc::unavailable) : first->error;
}

/// The broker's words are told, but for those of AUTH, which must not repeat what was sent.
void redis_connection::note_answer(greeting& of, std::size_t step, const redisReply* reply) {
  changed_.notify();
  if (!reply || of.error) return;
  ++of.answered;
  const auto& command = of.commands[step].front();
  of.error = judge_reply(*reply, of.types[step]);
  if (of.error) {
    const bool has_words = reply->type == REDIS_REPLY_ERROR && command != "AUTH";
    of.detail = command + (has_words ? ": " + std::string(text_in(*reply)) : " was refused");
  }
  if (of.error || command != "ROLE") return;
  const auto role = parse_role(*reply);
  if (!role) of.error = redis_errc::unexpected_reply;
  if (role && *role != "master") of.error = redis_errc::unavailable;
  of.detail = role ? "it is no primary, but a " + *role : "ROLE: not a reply of Redis";
}

void redis_connection::give_up(const error_code& why, std::string_view detail) {
  tell_failure(why, detail);
  close();
  is_fresh_ = false;
}

/// A reason that repeats itself with each try is told once.
void redis_connection::tell_failure(const error_code& why, std::string_view detail) {
  auto now = server_ + ' ' + why.message() + ' ' + std::string(detail);
  if (now == told_) return;
  told_ = std::move(now);
  const bool is_refusal = why == redis_errc::refused_credentials;
  const auto event = is_refusal ? session_event::authentication_failed : session_event::connect_failed;
  tell(may_recover(why) ? log_severity::warning : log_severity::error, event, why, detail);
}

void redis_connection::tell(log_severity severity, session_event event, const error_code& why,
                            std::string_view detail) {
  if (!log_) return;
  const auto server = "redis " + server_;
  log_event told;
  told.severity = severity;
  told.event = event;
  told.server = server;
  told.error = why;
  told.detail = detail;
  log_(told);
}

}  // namespace zkrecipes::detail
