#include "limit/waiting_line.hpp"

#include <utility>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include "session/operation.hpp"

namespace zkrecipes::detail {

acquire_waiter_ptr make_waiter(const scheduler& on, acquire_handler handler, std::int64_t cost, ticks came,
                               ticks deadline) {
  auto target = target_of(handler, on);
  return std::make_shared<acquire_waiter>(
      acquire_waiter{std::move(handler), std::move(target), cost, came, deadline, false, {}});
}

void complete(const scheduler& on, acquire_waiter& which, error_code why) {
  auto call = [handler = std::make_shared<acquire_handler>(std::move(which.handler)), why] {
    std::move (*handler)(why);
  };
  asio::post(on.base, [target = std::move(which.target), call = std::move(call)]() mutable {
    asio::dispatch(target, std::move(call));
  });
}

void line_timer::set(ticks when) {
  asio::post(clock_.get_scheduler()->strand, [self = shared_from_this(), when] { self->start(when); });
}

void line_timer::start(ticks when) {
  drop();
  if (when == no_ticks_limit) return;
  id_ = clock_.get_scheduler()->world->call_at(clock_.time_of(when), [weak = weak_from_this()] {
    auto self = weak.lock();
    if (!self) return;
    self->id_ = 0;
    self->what_();
  });
}

void line_timer::drop() {
  if (id_) clock_.get_scheduler()->world->cancel(std::exchange(id_, 0));
}

}  // namespace zkrecipes::detail
