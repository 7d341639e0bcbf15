#include "world/stream_end.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>

namespace zkrecipes::simulation {

using side = broker_wire::side;

namespace {

constexpr std::size_t most_unread = 32 << 10;  // what the system takes although the broker does not read

}  // namespace

/// A process that is being killed waits for nothing.
void stream_end::wait(waiting& which, moved then) {
  if (!inside_->alive()) return;
  const auto kept = std::make_shared<moved>(std::move(then));
  which.then = kept;
  which.kept = inside_->keep(kept);
}

stream_end::moved stream_end::take(waiting& which) {
  const auto found = std::exchange(which, {});
  const auto held = found.then.lock();
  inside_->let_go(found.kept);
  return held ? std::move(*held) : moved();
}

void stream_end::finish(waiting& which, const error_code& why, std::size_t size) {
  if (auto then = take(which)) then(why, size);
}

/// Handles what the network does, once the process runs.
template <class Function>
void stream_end::inside(Function what) {
  inside_->receive([weak = weak_from_this(), what = std::move(what)]() mutable {
    const auto self = weak.lock();
    if (self && !self->is_closed_) what(*self);
  });
}

void stream_end::connect(const backend::endpoint& broker, backend::broker_stream::connected then) {
  wait(connecting_, [then = std::move(then)](const error_code& why, std::size_t) { then(why); });
  if (inside_->alive()) wire_ = network_.connect(inside_->number(), broker, shared_from_this());
}

void stream_end::connected() {
  inside([](stream_end& self) { self.finish(self.connecting_, {}, 0); });
}

void stream_end::receive(std::string_view bytes) {
  inside([some = std::string(bytes)](stream_end& self) {
    self.arrived_ += some;
    self.read();
  });
}

void stream_end::lose(const error_code& why) {
  inside([why](stream_end& self) {
    self.failure_ = why;
    const auto keep = self.shared_from_this();
    self.finish(self.connecting_, why, 0);
    self.finish(self.writing_, why, 0);
    self.read();
  });
}

void stream_end::drained() {
  inside([](stream_end& self) { self.complete_write(); });
}

void stream_end::read_some(asio::mutable_buffer to, moved then) {
  into_ = to;
  wait(reading_, std::move(then));
  if (arrived_.empty() && !failure_) return;
  inside_->post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->read();
  });
}

/// What has arrived is read before the end of the connection is noticed.
void stream_end::read() {
  if (reading_.kept == 0 || (arrived_.empty() && !failure_)) return;
  const auto size = asio::buffer_copy(into_, asio::buffer(arrived_));
  arrived_.erase(0, size);
  finish(reading_, size > 0 ? error_code() : failure_, size);
}

void stream_end::write(asio::const_buffer all, moved then) {
  writes_ = all.size();
  wait(writing_, std::move(then));
  if (wire_ && !failure_ && inside_->alive())
    wire_->send(side::client, {static_cast<const char*>(all.data()), all.size()});
  inside_->post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->complete_write();
  });
}

void stream_end::complete_write() {
  if (writing_.kept == 0) return;
  if (failure_) return finish(writing_, failure_, 0);
  if (wire_->unread(side::client) <= most_unread) finish(writing_, {}, writes_);
}

void stream_end::close() {
  if (std::exchange(is_closed_, true)) return;
  const bool is_alive = inside_->alive();
  if (wire_) is_alive ? wire_->close(side::client) : network_.lose_process(*wire_);
  for (auto* each : {&connecting_, &reading_, &writing_}) {
    auto then = take(*each);
    if (!then || !is_alive) continue;
    inside_->post([then = std::move(then)] { then(asio::error::operation_aborted, 0); });
  }
}

}  // namespace zkrecipes::simulation
