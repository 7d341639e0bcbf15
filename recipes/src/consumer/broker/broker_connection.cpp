#include "broker/broker_connection.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "session/operation.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"
#include "session/server_list.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;

namespace {

/// Adds the port where none is given.
std::string with_ports(const std::string& hosts, std::uint16_t port) {
  std::string all;
  for (std::size_t begin = 0; begin <= hosts.size();) {
    const auto end = std::min(hosts.find(',', begin), hosts.size());
    const auto one = hosts.substr(begin, end - begin);
    const auto from = one.find(']') == one.npos ? 0 : one.find(']');
    all += one;
    if (!one.empty() && one.find(':', from) == one.npos) all += ':' + std::to_string(port);
    if (end < hosts.size()) all += ',';
    begin = end + 1;
  }
  return all;
}

}  // namespace

void broker_settings::require_login(const std::string& user, const std::string& password) const {
  require(!has_nul(user), "user", "it must not contain a NUL byte");
  require(!has_nul(password), "password", "it must not contain a NUL byte");
  require(user.empty() || !password.empty(), "password", "a user needs one");
}

void broker_settings::require_times(std::chrono::milliseconds timeout, const retry_policy& retry) const {
  require(timeout >= 10ms && timeout <= 1h, "timeout", "it must be 10 ms to 1 h");
  require_pauses(retry);
}

std::vector<backend::endpoint> broker_settings::parse_brokers(const std::string& hosts, std::uint16_t port) const {
  require(hosts.find('/') == hosts.npos, "hosts", "write host:port[,host:port...]; a broker has no root");
  try {
    return parse_hosts(with_ports(hosts, port)).servers;
  } catch (const std::invalid_argument& problem) {
    refuse("hosts", problem.what());
  }
}

/// The messages of `tls_context` name a field of `session_options`.
std::shared_ptr<backend::tls_context> broker_settings::load_certificates(const std::optional<tls_options>& tls) const {
  if (!tls) return nullptr;
  try {
    return std::make_shared<backend::tls_context>(*tls);
  } catch (const std::invalid_argument& problem) {
    std::string text = problem.what();
    const std::string_view other = "session_options::";
    if (text.starts_with(other)) text.replace(0, other.size(), owner() + "::");
    throw std::invalid_argument(text);
  }
}

/// A lookup of the names of the brokers. Its answer may come after the try that asked has been given up.
struct broker_connection::lookup {
  explicit lookup(const scheduler_ptr& on) : arrived(on) {}

  static std::shared_ptr<lookup> begin(const broker_frame& of) {
    const auto& scheduler = of.session->get_scheduler();
    auto begun = std::make_shared<lookup>(scheduler);
    scheduler->world->resolve(of.brokers, [begun](std::vector<backend::resolved_name> names) {
      begun->is_there = true;
      begun->names = std::move(names);
      begun->arrived.notify();
    });
    return begun;
  }

  condition arrived;
  bool is_there = false;
  std::vector<backend::resolved_name> names{};
};

broker_connection::broker_connection(broker_frame_ptr frame, retries with)
    : frame_(std::move(frame)),
      retries_(with),
      log_(guarded(*frame_->session->get_scheduler(), frame_->session->options().log)),
      changed_(frame_->session->get_scheduler()),
      pause_(frame_->retry.first_pause, frame_->retry.max_pause) {}

broker_connection::~broker_connection() {
  if (link_) link_->abandon();
}

bool broker_connection::may_recover(const error_code& error) const {
  const bool is_refusal = error == frame_->refused_credentials;
  return frame_->may_recover(error) || (is_refusal && retries_ == retries::with_refusals);
}

void broker_connection::close() {
  is_ready_ = false;
  drop_link();
  is_fresh_ = true;
}

/// Nothing that was asked of the link is answered any more, so those that wait are told.
void broker_connection::drop_link() {
  const auto link = std::exchange(link_, nullptr);
  if (!link) return;
  link->abandon();
  changed_.notify();
}

awaitable<error_code> broker_connection::ready(lease_clock::time_point until) {
  const auto session = frame_->session;
  while (!is_up()) {
    log_end();
    if (session->over()) co_return session->over();
    if (trying_.expired()) {
      auto error = co_await make_connection(until);
      const bool is_late = session->now() >= until;
      if (error && (is_late || !may_recover(error))) co_return error;
    } else {
      const auto why = co_await changed_.wait(until);
      if (why == wake::cancelled) co_return asio::error::operation_aborted;
      if (why == wake::timed_out) co_return frame_->unavailable;
    }
  }
  co_return error_code();
}

/// The try ends with `mine`, also when the coroutine is dropped.
awaitable<error_code> broker_connection::make_connection(lease_clock::time_point until) {
  auto mine = std::make_shared<bool>(true);
  trying_ = mine;
  auto error = co_await rest(until);
  if (!error) error = co_await try_brokers();
  mine.reset();
  changed_.notify();
  co_return error;
}

/// The pause before a try. Errors: that of the session, `operation_aborted`, and `unavailable` when the time is over.
awaitable<error_code> broker_connection::rest(lease_clock::time_point until) {
  if (std::exchange(is_fresh_, false)) co_return error_code();
  const auto session = frame_->session;
  const auto end = pause_.next(*session->get_scheduler());
  while (!session->over()) {
    const auto why = co_await session->changed().wait(std::min(end, until));
    if (why == wake::cancelled) co_return asio::error::operation_aborted;
    if (why == wake::timed_out) co_return until < end ? frame_->unavailable : error_code();
  }
  co_return session->over();
}

lease_clock::time_point broker_connection::due(lease_clock::time_point by) const noexcept {
  return link_ ? std::max(by, link_->last_passed() + frame_->timeout) : by;
}

awaitable<wake> broker_connection::wait_for_answer(condition& arrived, lease_clock::time_point by,
                                                   std::string_view words) {
  const auto why = co_await arrived.wait(due(by));
  if (why != wake::timed_out) co_return why;
  if (frame_->session->now() < due(by)) co_return wake::notified;  // something has passed, perhaps the answer itself
  give_up(frame_->unavailable, words);
  co_return why;
}

void broker_connection::log_end() {
  if (!is_ready_ || is_up()) return;
  is_ready_ = false;
  write_log(log_severity::warning, session_event::connection_lost, link_->why(), link_->reason());
}

/// Goes round all addresses once.
awaitable<error_code> broker_connection::try_brokers() {
  using change = backend::tls_context::change;
  std::string problem;
  const auto found = frame_->tls ? frame_->tls->refresh(problem) : change::none;
  if (found == change::reloaded) write_log(log_severity::info, session_event::certificates_reloaded, {}, {});
  if (found == change::unusable) {
    problem += "; what was read before stays in use";
    write_log(log_severity::warning, session_event::certificates_unusable, {}, problem);
  }
  auto brokers = co_await resolve();
  auto error = frame_->unavailable;
  for (auto& each : brokers) {
    error = co_await try_broker(std::move(each));
    if (!error) {
      ++number_;
      is_ready_ = true;
      told_.clear();
      write_log(log_severity::info, session_event::connected, {}, {});
      co_return error;
    }
    drop_link();
    if (is_cancelled(error)) co_return error;
    log_failure(error, last_detail_);
    if (!may_recover(error)) co_return error;
  }
  co_return error;
}

/// The addresses, or nothing if they have not come in time. The next try waits for the same lookup.
awaitable<std::vector<broker_connection::candidate>> broker_connection::resolve() {
  if (!lookup_) lookup_ = lookup::begin(*frame_);
  const auto found = lookup_;
  auto woken = wake::notified;
  if (!found->is_there) woken = co_await found->arrived.wait(frame_->session->now() + frame_->timeout);
  if (woken == wake::timed_out && !found->is_there) {
    server_.clear();
    for (const auto& each : frame_->brokers) server_ += (server_.empty() ? "" : ",") + backend::to_string(each);
    const auto* what = frame_->brokers.size() == 1 ? "the name was" : "the names were";
    log_failure(frame_->unavailable,
                what + (" not resolved within " + std::to_string(frame_->timeout.count()) + " ms"));
  }
  std::vector<candidate> all;
  if (!found->is_there) co_return all;
  lookup_ = nullptr;
  for (const auto& each : found->names) {
    if (each.addresses.empty()) {
      server_ = backend::to_string(each.name);
      const auto why = each.error ? ": " + each.error.message() : std::string();
      log_failure(frame_->unavailable, "the name has no address" + why);
    }
    for (const auto& at : each.addresses) all.push_back({at, each.name.address});
  }
  co_return all;
}

/// `close` may take the link away meanwhile.
awaitable<error_code> broker_connection::try_broker(candidate broker) {
  server_ = backend::to_string(broker.at);
  const auto& scheduler = frame_->session->get_scheduler();
  const auto deadline = scheduler->now() + frame_->timeout;
  drop_link();
  auto stream = scheduler->world->open_broker(broker.at, broker.name, frame_->tls);
  const auto link = make_link(std::move(stream), [this] { changed_.notify(); });
  link_ = link;
  link->connect(broker.at);
  auto error = co_await await_link(*link, deadline);
  if (!error && link_ == link) error = co_await greet(deadline);
  if (link_ == link || is_cancelled(error)) co_return error;
  last_detail_ = "the connection was given up";
  co_return frame_->unavailable;
}

awaitable<error_code> broker_connection::await_link(const broker_link& link, lease_clock::time_point deadline) {
  while (!link.is_up() && !link.is_over()) {
    const auto why = co_await changed_.wait(deadline);
    if (why == wake::cancelled) co_return asio::error::operation_aborted;
    if (why == wake::notified) continue;
    last_detail_ = "no connection within " + std::to_string(frame_->timeout.count()) + " ms";
    co_return frame_->unavailable;
  }
  if (link.is_up()) co_return error_code();
  record_detail(link.reason());
  co_return link.why();
}

void broker_connection::give_up(const error_code& why, std::string_view detail) {
  log_failure(why, detail);
  close();
  is_fresh_ = false;
}

/// A reason that repeats itself with each try is told once.
void broker_connection::log_failure(const error_code& why, std::string_view detail) {
  auto now = server_ + ' ' + why.message() + ' ' + std::string(detail);
  if (now == told_) return;
  told_ = std::move(now);
  const bool is_refusal = why == frame_->refused_credentials;
  const auto event = is_refusal ? session_event::authentication_failed : session_event::connect_failed;
  write_log(frame_->may_recover(why) ? log_severity::warning : log_severity::error, event, why, detail);
}

void broker_connection::write_log(log_severity severity, session_event event, const error_code& why,
                                  std::string_view detail) {
  if (!log_) return;
  const auto server = frame_->kind + ' ' + server_;
  log_({severity, event, server, {}, {}, why, detail});
}

error_code judge_failure(broker_connection& of, const error_code& why, std::string_view detail) {
  if (!of.may_recover(why)) {
    of.write_log(log_severity::error, session_event::operation_failed, why, detail);
    return why;
  }
  of.give_up(why, detail);
  return {};
}

}  // namespace zkrecipes::detail
