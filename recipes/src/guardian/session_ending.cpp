#include "guardian/session_ending.hpp"

#include <algorithm>
#include <utility>

#include "session/outcomes.hpp"
#include "session/together.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;

namespace {

/// A server that is alive answers in a few round trips. Each round over the servers gives them twice as long.
constexpr std::chrono::milliseconds first_time_limit = 1s;
constexpr std::chrono::milliseconds longest_time_limit = 30s;
constexpr int most_rounds_with_one = 8;  // with one server: some seconds, with the pauses
/// After so many connections that were lost over the records the session is closed without them: perhaps no server
/// takes the transaction, and each connection keeps the session alive.
constexpr int most_lost = 4;
constexpr std::chrono::milliseconds first_rest = 20ms;
constexpr std::chrono::milliseconds longest_rest = 1s;

/// The addresses, which can come after the caller has given up.
struct resolution {
  explicit resolution(scheduler_ptr on) : changed(std::move(on)) {}
  bool is_done = false;
  std::vector<backend::resolved_name> all{};
  condition changed;
};

}  // namespace

session_ending::session_ending(scheduler_ptr on, dead_session what, lease_clock::time_point deadline)
    : on_(std::move(on)),
      what_(std::move(what)),
      deadline_(deadline),
      records_by_(on_->now() + (deadline - on_->now()) / 2),
      terms_(std::move(what_.terms), what_.key.id),
      pause_(first_rest, longest_rest),
      changed_(on_),
      time_limit_(first_time_limit) {}

lease_clock::time_point session_ending::limit() const { return std::min(deadline_, on_->now() + time_limit_); }

void session_ending::lengthen_time_limit() { time_limit_ = std::min(2 * time_limit_, longest_time_limit); }

awaitable<dead_session_result> session_ending::run() {
  while (!is_over()) {
    co_await resolve_names();
    const auto servers = servers_.in_turn([this] { return on_->world->random(); }, on_->now());
    for (const auto& each : servers) {
      if (!is_over()) co_await end_at(each);
    }
    lengthen_time_limit();
    if (!is_over()) co_await wait_until(pause_.next(*on_));
  }
  co_return result();
}

dead_session_result session_ending::result() const {
  dead_session_result all;
  all.died = terms_.died();
  all.passed_over = terms_.passed_over();
  all.is_closed = is_closed_;
  if (!is_closed_) {
    all.error = stopped_ ? stopped_ : make_error_code(errc::timed_out);
  } else if (!was_resumed_) {
    all.error = errc::session_expired;
  } else if (terms_.was_forbidden()) {
    all.error = errc::no_auth;
  } else if (!terms_.is_settled()) {
    all.error = lost_ == most_lost ? errc::connection_loss : errc::server_error;
  }
  return all;
}

/// Names that do not resolve in time keep the addresses that they had.
awaitable<void> session_ending::resolve_names() {
  auto asked = std::make_shared<resolution>(on_);
  on_->world->resolve(what_.servers, [asked](std::vector<backend::resolved_name> all) {
    asked->all = std::move(all);
    asked->is_done = true;
    asked->changed.notify();
  });
  const auto until = servers_.empty() ? deadline_ : limit();
  while (!asked->is_done && !stopped_ && on_->now() < until) {
    auto why = co_await asked->changed.wait(until);
    if (why == wake::cancelled) stopped_ = asio::error::operation_aborted;
  }
  if (asked->is_done) servers_.resolved(std::move(asked->all));
}

awaitable<void> session_ending::wait_until(lease_clock::time_point when) {
  auto why = co_await changed_.wait(std::min(when, deadline_));
  if (why == wake::cancelled) stopped_ = asio::error::operation_aborted;
}

/// Takes the session up at this server and ends it there. The next attempt tells whether it is over.
awaitable<void> session_ending::end_at(backend::endpoint server) {
  lone_link link(on_);
  backend::link_options with{server, what_.key, what_.digest, what_.tls, servers_.names_of(server)};
  auto opened = co_await link.open(std::move(with), limit());
  const auto& [error, granted] = opened;
  if (error) co_return handle_refusal(error);
  if (granted.id != what_.key.id) {  // a session that nobody wants, in place of one that is over
    is_closed_ = true;
    co_await link.close_session(limit());
    co_return;
  }
  was_resumed_ = true;
  if (lost_ < most_lost && on_->now() < records_by_) {
    const auto unwritten = co_await write_deaths(link);
    if (unwritten == errc::connection_loss) ++lost_;  // and not if a server was too slow for us
    if (unwritten) co_return;
  }
  const auto end = co_await link.close_session(limit());
  if (is_cancelled(end)) stopped_ = end;
}

void session_ending::handle_refusal(const error_code& why) {
  if (is_expired(why)) is_closed_ = true;
  if (is_cancelled(why)) stopped_ = why;
  if (why == errc::auth_failed) what_.digest.clear();  // the session can be closed without rights
}

/// A server that is too busy for the records for a while must not keep the session alive. Errors: why they could not be
/// written over this connection, which has been given up.
awaitable<error_code> session_ending::write_deaths(lone_link& link) {
  for (int rounds = 0; !terms_.is_settled() && rounds < most_rounds_with_one; ++rounds) {
    auto unread = co_await look(link);
    if (!unread && is_over()) unread = errc::timed_out;
    if (unread) co_return unread;
    auto writes = terms_.writes();
    if (!writes.empty()) {
      auto written = co_await link.ask(std::move(writes), limit());
      const auto& [error, answers] = written;
      terms_.handle_writes(answers);
      if (is_cancelled(error)) stopped_ = error;
      if (error) co_return error;
    }
    if (is_busy_ || terms_.was_refused()) co_await wait_until(pause_.next(*on_));
  }
  co_return error_code();
}

/// Behind a catch-up, because the server may lag behind what the process had written.
awaitable<error_code> session_ending::look(lone_link& link) {
  auto looks = terms_.looks();
  looks.insert(looks.begin(), backend::make_catch_up());
  auto asked = co_await link.ask(std::move(looks), limit());
  auto& [error, answers] = asked;
  if (is_cancelled(error)) stopped_ = error;
  if (error) co_return error;
  const bool is_latest = has_caught_up(answers.front().error);
  answers.erase(answers.begin());
  is_busy_ = !is_latest;
  if (is_latest) terms_.handle_looks(answers);
  co_return error_code();
}

}  // namespace zkrecipes::detail
