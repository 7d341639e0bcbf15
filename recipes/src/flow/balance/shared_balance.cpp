#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include <zkrecipes/flow/shared_balance.hpp>

#include "balance/pace_membership.hpp"
#include "balance/pending_move.hpp"
#include "balance/shared_pace.hpp"
#include "session/background.hpp"
#include "session/condition.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"

namespace zkrecipes::detail {

// What one `shared_balance` object stands for: its run, from membership to membership.

class shared_balance_state : public std::enable_shared_from_this<shared_balance_state> {
 public:
  shared_balance_state(core_ptr session, std::string path, shared_balance_options options);

  // From any thread.
  const scheduler_ptr& get_scheduler() const noexcept { return pace_->get_scheduler(); }
  const shared_pace_ptr& pace() const noexcept { return pace_; }
  const std::string& path() const noexcept { return where_->root; }
  const shared_balance_options& options() const noexcept { return options_; }
  shared_balance_status status() const;
  /// Errors: `busy`, and `closed` after `forbid_runs`.
  error_code begin_run();
  void forbid_runs() noexcept { is_forbidden_ = true; }
  std::uint64_t present_run() const noexcept { return runs_; }

  // On the strand.
  awaitable<outcome<>> run(asio::any_io_executor executor);
  void stop(bool at_once);

 private:
  awaitable<error_code> run_memberships();
  awaitable<error_code> join();
  awaitable<outcome<>> try_join();
  awaitable<error_code> serve();
  awaitable<void> rest();
  bool mends(const error_code& error);
  void publish(const error_code& error);

  const shared_balance_options options_;
  const pace_place_ptr where_;
  const std::shared_ptr<condition> changed_;
  const shared_pace_ptr pace_;
  std::shared_ptr<pace_membership> membership_;
  std::shared_ptr<interruption> joining_;
  back_off pause_;
  bool has_worked_ = false;
  int without_limit_ = 0;  // tries in a row that found no limit beside the members
  std::atomic<bool> running_ = false;
  std::atomic<bool> is_forbidden_ = false;
  std::atomic<std::uint64_t> runs_ = 0;
  bool stopping_ = false;

  mutable std::mutex mutex_;  // guards what follows
  bool is_pacer_ = false;
  error_code error_;
  std::string obstacle_;
};

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

namespace zkrecipes {

shared_balance_track::shared_balance_track() noexcept = default;
shared_balance_track::shared_balance_track(state_ptr state) noexcept : state_(std::move(state)) {}
shared_balance_track::~shared_balance_track() { leave(); }
shared_balance_track::shared_balance_track(shared_balance_track&&) noexcept = default;

shared_balance_track& shared_balance_track::operator=(shared_balance_track&& other) noexcept {
  auto before = std::exchange(state_, std::exchange(other.state_, nullptr));
  if (before && before != state_) before->pace->leave(*before);
  return *this;
}

bool shared_balance_track::try_move() { return state_ && state_->pace->try_move(*state_); }

void shared_balance_track::start_move(detail::handler_for<void(error_code)> handler, state_ptr whose) {
  whose->pace->move(whose, std::move(handler));
}

void shared_balance_track::leave() noexcept {
  if (state_) state_->pace->leave(*state_);
}

std::uint64_t shared_balance_track::steps() const noexcept { return state_ ? state_->pace->steps(*state_) : 0; }

const std::string& shared_balance_track::name() const noexcept { return state_ ? state_->name : detail::no_path(); }

shared_balance_track::executor_type shared_balance_track::get_executor() const noexcept {
  return state_ ? state_->pace->get_scheduler()->base : executor_type();
}

using namespace detail;

namespace {

shared_balance_options checked_balance(shared_balance_options options) {
  require_id("shared_balance_options::id", options.id);
  if (is_range(options.range)) return options;
  throw std::invalid_argument("shared_balance_options::range is " + std::to_string(options.range) +
                              "; it must be from 1 to " + std::to_string(largest_range));
}

}  // namespace

shared_balance::shared_balance(session over, std::string path, shared_balance_options options)
    : session_(std::move(over)) {
  require_path("shared balance path", path);
  if (path == "/") reject("shared balance path", path, "it is the root");
  auto checked = checked_balance(std::move(options));
  state_ = std::make_shared<shared_balance_state>(require_session(session_), std::move(path), std::move(checked));
}

shared_balance::shared_balance() noexcept = default;
shared_balance::shared_balance(shared_balance&&) noexcept = default;

shared_balance& shared_balance::operator=(shared_balance&& other) noexcept {
  shared_balance taken(std::move(other));
  std::swap(session_, taken.session_);
  std::swap(state_, taken.state_);  // what we had is stopped here
  return *this;
}

shared_balance::~shared_balance() {
  if (state_) state_->forbid_runs();
  stop();
}

void shared_balance::stop() {
  if (!state_) return;
  asio::post(state_->get_scheduler()->strand, [self = state_] { self->stop(false); });
}

shared_balance_track shared_balance::track(std::string name) const {
  if (!state_) return shared_balance_track();
  require_id("balance track", name);
  return shared_balance_track(state_->pace()->add(std::move(name)));
}

shared_balance_status shared_balance::status() const { return state_ ? state_->status() : shared_balance_status(); }

const std::string& shared_balance::path() const noexcept { return state_ ? state_->path() : no_path(); }

const shared_balance_options& shared_balance::options() const noexcept {
  static const shared_balance_options defaults;
  return state_ ? state_->options() : defaults;
}

void shared_balance::start_run(handler_for<void(error_code)> h, state_ptr state) {
  if (auto refused = state->begin_run()) return launch(*state->get_scheduler(), std::move(h), refuse<>(refused));
  launch_stoppable(std::move(h), std::move(state));
}

}  // namespace zkrecipes
