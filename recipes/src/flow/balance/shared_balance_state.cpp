#include "balance/shared_balance_state.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include "session/forwarding.hpp"
#include "session/mending.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;

namespace {

/// How often the limit may be missing beside the members before the run ends: the path may be just being removed.
constexpr int most_without_limit = 5;
/// While moves wait for a lease that has lapsed, nobody tells us when it is renewed.
constexpr auto between_looks = 50ms;
/// A membership that ends sooner is followed by a pause.
constexpr auto shortest_stay = 1s;

std::function<void()> notifier(const core_ptr& session, const std::shared_ptr<condition>& which) {
  return [strand = session->strand(), which] { asio::post(strand, [which] { which->notify(); }); };
}

}  // namespace

shared_balance_state::shared_balance_state(core_ptr session, std::string path, shared_balance_options options)
    : options_(std::move(options)),
      where_(std::make_shared<pace_place>(session, std::move(path), options_.id,
                                          static_cast<std::int64_t>(options_.range))),
      changed_(std::make_shared<condition>(session->get_scheduler())),
      pace_(std::make_shared<shared_pace>(session->get_scheduler(), options_.range, notifier(session, changed_))),
      pause_(session->options().retry.first_pause, session->options().retry.max_pause) {}

error_code shared_balance_state::begin_run() {
  if (is_forbidden_) return errc::closed;
  if (running_.exchange(true)) return errc::busy;
  ++runs_;
  pace_->open();
  return {};
}

void shared_balance_state::stop(bool) {
  if (!running_) return;
  stopping_ = true;
  pace_->close();
  if (joining_) joining_->interrupt();
  changed_->notify();
}

awaitable<outcome<>> shared_balance_state::run(asio::any_io_executor) {
  const forwarding session_changes(where_->session->changed(), *changed_);
  error_code error;
  std::exception_ptr failure;
  try {
    error = co_await run_memberships();
  } catch (...) {  // no memory
    failure = std::current_exception();
  }
  if (membership_) co_await std::exchange(membership_, nullptr)->leave();
  publish(error);
  pace_->close();
  stopping_ = false;
  running_ = false;
  if (failure) std::rethrow_exception(failure);
  co_return outcome<>(error);
}

awaitable<error_code> shared_balance_state::run_memberships() {
  const auto& session = where_->session;
  while (!stopping_) {
    if (auto over = session->over()) co_return over;
    if (!pace_->has_tracks()) {
      co_await changed_->wait();
      continue;
    }
    const auto began = session->now();
    auto error = co_await join();
    if (!error) error = co_await serve();
    if (stopping_) break;
    if (!mends(error)) co_return error;
    publish(error);
    if (!error) continue;
    if (session->now() - began >= shortest_stay) pause_.reset();
    co_await rest();
  }
  co_return error_code();
}

/// `stop` is heard although there may be no connection, or a server that is too busy.
awaitable<error_code> shared_balance_state::join() {
  joining_ = std::make_shared<interruption>();
  auto body = owning(shared_from_this(), &shared_balance_state::try_join);
  auto joined = co_await interruptible(get_scheduler(), joining_, std::move(body));
  joining_.reset();
  co_return std::get<0>(joined);
}

awaitable<outcome<>> shared_balance_state::try_join() {
  auto error = co_await where_->session->wait_connected(nullptr, never);
  if (error) co_return outcome<>(error);
  const auto seen = co_await find_limit(where_, pace_->limit());
  if (seen.error) co_return outcome<>(seen.error);
  auto made = std::make_shared<pace_membership>(where_, pace_, changed_);
  error = co_await made->join();
  if (!error) membership_ = std::move(made);
  co_return outcome<>(error);
}

/// Until the membership is lost, or is not needed any more.
awaitable<error_code> shared_balance_state::serve() {
  const auto present = membership_;
  without_limit_ = 0;
  while (!present->is_over() && !stopping_ && !where_->session->over() && !pace_->suspend_if_empty()) {
    has_worked_ = true;
    publish(present->trouble());
    const bool has_lapsed = pace_->refresh();
    present->on_floor_due();
    co_await changed_->wait(has_lapsed ? where_->session->now() + between_looks : never);
  }
  const auto left = co_await present->leave();
  membership_.reset();
  if (auto over = where_->session->over()) co_return over;
  co_return present->why() ? present->why() : left;
}

/// Whether another try may have success.
bool shared_balance_state::mends(const error_code& error) {
  const bool is_without_limit = error == errc::no_node;
  without_limit_ = is_without_limit ? without_limit_ + 1 : 0;
  if (is_without_limit) return without_limit_ < most_without_limit;
  return detail::mends(error, has_worked_);
}

awaitable<void> shared_balance_state::rest() {
  const auto until = pause_.next(*get_scheduler());
  while (!stopping_ && where_->session->now() < until) co_await changed_->wait(until);
}

void shared_balance_state::publish(const error_code& error) {
  const std::lock_guard lock(mutex_);
  is_pacer_ = membership_ && membership_->is_pacer();
  error_ = error;
  obstacle_ = error && membership_ ? membership_->obstacle() : std::string();
}

shared_balance_status shared_balance_state::status() const {
  shared_balance_status seen;
  pace_->show_in(seen);
  const std::lock_guard lock(mutex_);
  seen.is_pacer = is_pacer_;
  seen.error = error_;
  seen.obstacle = obstacle_;
  return seen;
}

}  // namespace zkrecipes::detail
