#include "lock/held_together.hpp"

#include <tuple>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace zkrecipes::detail {

held_together::held_together(core_ptr session) : session_(std::move(session)), changed_(session_->get_scheduler()) {}

held_together::~held_together() {
  while (!all_.empty()) all_.pop_back();  // release the last acquired first
}

/// On the strand.
void held_together::add(ownership one) {
  one.async_lost(asio::bind_executor(session_->strand(), [weak = weak_from_this()](error_code) {
    if (auto self = weak.lock()) self->note_lost();
  }));
  one.async_revoked(asio::bind_executor(session_->strand(), [weak = weak_from_this()](error_code why) {
    auto self = weak.lock();
    if (self && why == errc::revoked) self->note_revoked();
  }));
  all_.push_back(std::move(one));
}

awaitable<error_code> held_together::acquire(acquire_one how, std::string path, line_options options) {
  auto loss = std::make_shared<interruption>();
  loss_ = loss;
  auto acquiring = how(session_, std::move(path), std::move(options));
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

void held_together::note_lost() {
  if (auto waiting = loss_.lock()) waiting->interrupt();
  changed_.notify();
}

void held_together::note_revoked() {
  revoked_ = true;
  changed_.notify();
}

}  // namespace zkrecipes::detail
