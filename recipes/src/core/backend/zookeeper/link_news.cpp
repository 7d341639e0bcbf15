#include "backend/zookeeper/link_news.hpp"

#include <utility>

#include <boost/asio/post.hpp>

#include "backend/begin_once.hpp"

namespace zkrecipes::backend {

void link_news::on_up(session_key granted) {
  granted_ = std::move(granted);
  up_pending_ = true;
  deliver_later();
}

void link_news::on_event(watch_event event) {
  if (!listener_) return;
  heard_of_.push_back(std::move(event));
  deliver_later();
}

void link_news::on_answer(reply_handler handler, reply answer) {
  if (!listener_) return;
  heard_of_.push_back(finished{std::move(handler), std::move(answer)});
  deliver_later();
}

void link_news::on_down(const error_code& reason) noexcept {
  down_pending_ = true;
  down_reason_ = reason;
}

void link_news::end_turn() {
  in_turn_ = false;
  deliver();
}

void link_news::abandon() noexcept {
  listener_ = nullptr;
  heard_of_.clear();
}

void link_news::deliver_later() {
  if (in_turn_ || !listener_) return;
  detail::begin_once(delivery_scheduled_,
                     [this] { boost::asio::post(strand_, [self = shared_from_this()] { self->deliver(); }); });
}

void link_news::deliver() {
  delivery_scheduled_ = false;
  if (std::exchange(up_pending_, false) && listener_) listener_->up(granted_);
  for (auto& each : std::exchange(heard_of_, {})) {
    if (!listener_) return;
    if (const auto* event = std::get_if<watch_event>(&each)) {
      listener_->fired(*event);
    } else {
      auto& answered = std::get<finished>(each);
      answered.handler(std::move(answered.answer));
    }
  }
  if (down_pending_ && heard_of_.empty() && listener_) std::exchange(listener_, nullptr)->down(down_reason_);
}

}  // namespace zkrecipes::backend
