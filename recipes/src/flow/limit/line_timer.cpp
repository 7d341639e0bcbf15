#include "limit/line_timer.hpp"

#include <utility>

#include <boost/asio/post.hpp>

namespace zkrecipes::detail {

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
