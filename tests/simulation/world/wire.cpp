#include "world/wire.hpp"

#include <algorithm>
#include <utility>

namespace zkrecipes::simulation {

void wire::connect(const backend::link_options& options) {
  connection_ = where_.servers->connect(where_.inside->number(), options.server.port - 2181, options, *this);
  where_.connected(connection_);
}

void wire::submit(backend::request what, backend::reply_handler handler) {
  if (closing_) {
    return inside([handler = std::move(handler)](wire&) {
      backend::reply refused;
      refused.error = errc::closed;
      handler(std::move(refused));
    });
  }
  sent_ = where_.inside->now();
  pending_.push_back(std::move(handler));
  if (connection_ && where_.inside->alive()) where_.servers->send(connection_, std::move(what));
}

void wire::close_session() {
  if (std::exchange(closing_, true) || !connection_ || !where_.inside->alive()) return;
  where_.servers->send_close(connection_);
}

void wire::abandon() {
  listener_ = nullptr;
  pending_.clear();
  drop();
}

void wire::drop() {
  if (timer_) where_.inside->cancel(std::exchange(timer_, 0));
  if (connection_) where_.servers->drop(std::exchange(connection_, nullptr));
}

/// Handles what arrived from the network on the process's strand, once the process runs.
template <class Function>
void wire::inside(Function what) {
  where_.inside->receive([weak = weak_from_this(), what = std::move(what)]() mutable {
    auto self = weak.lock();
    if (!self || !self->listener_) return;
    self->heard_ = self->where_.inside->now();
    what(*self);
  });
}

void wire::granted(const backend::session_key& key) {
  inside([key](wire& self) {
    self.timeout_ = key.timeout;
    self.sent_ = self.where_.inside->now();
    self.where_.notes->note(self.where_.inside->number(), "connected", {}, key.id);
    self.stay_alive();
    self.listener_->up(key);
  });
}

void wire::refused() {
  inside([](wire& self) { self.fail(errc::session_expired); });
}

void wire::answered(backend::reply answer) {
  inside([answer = std::move(answer)](wire& self) mutable {
    if (self.closing_ || self.pending_.empty()) return;  // like the C client's link: closing, it only waits for the end
    auto handler = std::move(self.pending_.front());
    self.pending_.pop_front();
    handler(std::move(answer));
  });
}

void wire::ponged() {
  inside([](wire&) {});
}

void wire::fired(const backend::watch_event& event) {
  inside([event](wire& self) {
    if (!self.closing_) self.listener_->fired(event);
  });
}

void wire::broken() {
  inside([](wire& self) { self.fail(errc::connection_loss); });
}

void wire::fail(error_code reason) {
  auto keep = shared_from_this();
  if (closing_) reason = errc::closed;
  where_.notes->note(where_.inside->number(), "disconnected", reason.message());
  drop();
  for (auto& each : std::exchange(pending_, {})) {
    backend::reply lost;
    lost.error = errc::connection_loss;
    each(std::move(lost));
  }
  if (auto* listener = std::exchange(listener_, nullptr)) listener->down(reason);
}

/// Sends a ping after a third of the timeout without a request, and takes the server for dead after two thirds of the
/// timeout in which nothing came from it.
void wire::stay_alive() {
  const auto now = where_.inside->now();
  if (now - heard_ >= timeout_ * 2 / 3) return fail(errc::timed_out);
  if (now - sent_ >= timeout_ / 3) {
    sent_ = now;
    where_.servers->send_ping(connection_);
  }
  const auto next = std::min(sent_ + timeout_ / 3, heard_ + timeout_ * 2 / 3);
  timer_ = where_.inside->call_at(next, [this] {
    timer_ = 0;
    if (listener_) stay_alive();
  });
}

}  // namespace zkrecipes::simulation
