#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/multi_lock.hpp>

#include "line/line_spec.hpp"
#include "line/waiter.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// Some locks, in the order of their acquisition. They are released in the reverse order.
class held_together : public std::enable_shared_from_this<held_together> {
 public:
  explicit held_together(core_ptr session);
  ~held_together();

  /// Acquires one more lock; waits for it, or tries only. Gives up if one of the locks that are held already is lost
  /// meanwhile.
  awaitable<error_code> acquire(bool waits, std::string path, line_options options);

  /// Releases in the background, also while somebody still waits for a loss. To be called once the public object, which
  /// looks at the ownerships from any thread, has gone.
  void let_go_later();

  const std::vector<ownership>& all() const noexcept { return all_; }
  const scheduler_ptr& get_scheduler() const noexcept { return session_->get_scheduler(); }
  error_code error() const noexcept;
  awaitable<outcome<>> wait_lost();
  awaitable<outcome<>> wait_revoked();
  awaitable<outcome<>> release();

 private:
  void add(ownership one);
  void on_lost();
  void on_revoked();

  core_ptr session_;
  std::vector<ownership> all_;
  std::weak_ptr<interruption> loss_;  // interrupts the present acquisition when a held lock is lost
  bool revoked_ = false;              // somebody has asked for one of the locks
  bool releasing_ = false;            // `release` gives all of them up
  condition changed_;
};

held_together::held_together(core_ptr session) : session_(std::move(session)), changed_(session_->get_scheduler()) {}

held_together::~held_together() {
  while (!all_.empty()) all_.pop_back();  // release the last acquired first
}

/// On the strand.
void held_together::add(ownership one) {
  one.async_lost(asio::bind_executor(session_->strand(), [weak = weak_from_this()](error_code) {
    if (auto self = weak.lock()) self->on_lost();
  }));
  one.async_revoked(asio::bind_executor(session_->strand(), [weak = weak_from_this()](error_code why) {
    auto self = weak.lock();
    if (self && why == errc::revoked) self->on_revoked();
  }));
  all_.push_back(std::move(one));
}

awaitable<error_code> held_together::acquire(bool waits, std::string path, line_options options) {
  auto loss = std::make_shared<interruption>();
  loss_ = loss;
  auto line = lock_line(std::move(path));
  auto data = revocable_data(options.id);
  auto acquiring =
      waits ? own_in_turn(session_, std::move(line), std::move(data), &nearest_ahead, std::move(options.on_position))
            : own_if_free(session_, std::move(line), std::move(data));
  auto acquired = co_await interruptible(session_->get_scheduler(), std::move(loss), std::move(acquiring));
  auto& [failure, one] = acquired;
  if (!failure) add(std::move(one));
  if (auto why = error()) co_return why;
  co_return failure;
}

void held_together::let_go_later() {
  asio::post(session_->strand(), [self = shared_from_this()] {
    if (self->releasing_) return;  // `release` goes on, and keeps us alive
    for (auto each = self->all_.rbegin(); each != self->all_.rend(); ++each) *each = ownership();
    self->changed_.notify();
  });
}

error_code held_together::error() const noexcept {
  for (const auto& each : all_) {
    if (auto why = each.error()) return why;
  }
  return {};
}

awaitable<outcome<>> held_together::wait_lost() {
  for (;;) {
    if (auto why = error()) co_return outcome<>(why);
    auto why = co_await changed_.wait();
    if (why == wake::cancelled) co_return outcome<>(asio::error::operation_aborted);
  }
}

awaitable<outcome<>> held_together::wait_revoked() {
  for (;;) {
    if (auto why = error()) co_return outcome<>(why);
    if (revoked_) co_return outcome<>(errc::revoked);
    auto why = co_await changed_.wait();
    if (why == wake::cancelled) co_return outcome<>(asio::error::operation_aborted);
  }
}

awaitable<outcome<>> held_together::release() {
  releasing_ = true;
  error_code first;
  for (auto each = all_.rbegin(); each != all_.rend(); ++each) {
    if (each->path().empty()) continue;  // given up by `let_go_later` before we began
    auto releasing = each->async_release(asio::as_tuple(asio::use_awaitable));
    auto released = co_await std::move(releasing);
    if (!first) first = std::get<0>(released);
  }
  co_return outcome<>(first);
}

void held_together::on_lost() {
  if (auto waiting = loss_.lock()) waiting->interrupt();
  changed_.notify();
}

void held_together::on_revoked() {
  revoked_ = true;
  changed_.notify();
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

using namespace detail;

namespace {

awaitable<outcome<multi_ownership>> acquire_all(core_ptr session, std::vector<std::string> paths, line_options options,
                                                bool waits) {
  auto held = std::make_shared<held_together>(session);
  for (auto& each : paths) {
    auto error = co_await held->acquire(waits, std::move(each), options);
    if (error) co_return failed<multi_ownership>(error);  // `held` releases its locks
  }
  co_return outcome<multi_ownership>(error_code(), multi_ownership(std::move(held)));
}

}  // namespace

multi_lock::multi_lock(session over, std::vector<std::string> paths, line_options options)
    : session_(std::move(over)), paths_(std::move(paths)), options_(std::move(options)) {
  require_session(session_);
  if (paths_.empty()) throw std::invalid_argument("multi-lock: there must be a path");
  for (const auto& each : paths_) require_path("multi-lock path", each);
  require_id("line_options::id", options_.id);
  std::sort(paths_.begin(), paths_.end());
  const auto twice = std::adjacent_find(paths_.begin(), paths_.end());
  if (twice != paths_.end()) throw std::invalid_argument("multi-lock path " + *twice + ": it is there twice");
}

void multi_lock::start_acquire(handler h, core_ptr core, std::vector<std::string> paths, line_options options,
                               lease_clock::duration budget) {
  const auto on = core->get_scheduler();
  auto acquiring = acquire_all(std::move(core), std::move(paths), std::move(options), true);
  launch(*on, std::move(h), with_deadline(on, on->deadline_of(budget), std::move(acquiring)));
}

void multi_lock::start_try_acquire(handler h, core_ptr core, std::vector<std::string> paths, line_options options) {
  const auto on = core->get_scheduler();
  launch(*on, std::move(h), acquire_all(std::move(core), std::move(paths), std::move(options), false));
}

multi_ownership::multi_ownership() noexcept = default;
multi_ownership::multi_ownership(held_ptr held) noexcept : held_(std::move(held)) {}
multi_ownership::multi_ownership(multi_ownership&&) noexcept = default;

multi_ownership& multi_ownership::operator=(multi_ownership&& other) noexcept {
  multi_ownership taken(std::move(other));
  std::swap(held_, taken.held_);  // what we had is released here
  return *this;
}

multi_ownership::~multi_ownership() {
  if (held_) held_->let_go_later();
}

multi_ownership::executor_type multi_ownership::get_executor() const noexcept {
  return held_ ? held_->get_scheduler()->base : executor_type();
}

std::size_t multi_ownership::size() const noexcept { return held_ ? held_->all().size() : 0; }

const ownership& multi_ownership::at(std::size_t index) const {
  if (index >= size()) throw std::out_of_range("multi_ownership::at");
  return held_->all()[index];
}

error_code multi_ownership::error() const noexcept {
  return size() > 0 ? held_->error() : make_error_code(errc::closed);
}

lease_clock::time_point multi_ownership::valid_until() const {
  auto until = size() > 0 ? lease_clock::time_point::max() : lease_clock::time_point{};
  for (std::size_t i = 0; i < size(); ++i) until = std::min(until, at(i).valid_until());
  return until;
}

bool multi_ownership::valid() const { return !error(); }

transaction multi_ownership::fenced(transaction operations) const {
  transaction all;
  if (size() == 0) all.check({});  // no path: refused before it is sent, as with an empty `ownership`
  for (std::size_t i = 0; i < size(); ++i) all.check(at(i).path());
  return all.append(std::move(operations));
}

void multi_ownership::start_lost(handler_for<void(error_code)> h, held_ptr which) {
  launch_endless(std::move(h), std::move(which), &held_together::wait_lost);
}

void multi_ownership::start_revoked(handler_for<void(error_code)> h, held_ptr which) {
  launch_endless(std::move(h), std::move(which), &held_together::wait_revoked);
}

void multi_ownership::start_release(handler_for<void(error_code)> h, held_ptr which) {
  launch(std::move(h), std::move(which), &held_together::release);
}

}  // namespace zkrecipes
