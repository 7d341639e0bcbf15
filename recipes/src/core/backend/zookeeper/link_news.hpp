// What a connection tells its listener, in the order in which the server said it.
#pragma once

#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "backend/link_listener.hpp"
#include "backend/reply.hpp"
#include "backend/watch_event.hpp"

namespace zkrecipes::backend {

/// Nothing is told from inside a call of the connection: all that was heard is delivered later on the strand, or at the
/// end of a turn.
class link_news : public std::enable_shared_from_this<link_news> {
 public:
  link_news(boost::asio::any_io_executor strand, link_listener& listener)
      : strand_(std::move(strand)), listener_(&listener) {}

  void on_up(session_key granted);
  void on_event(watch_event event);
  void on_answer(reply_handler handler, reply answer);
  /// The connection has ended: the last news, behind the answers that come before the delivery.
  void on_down(const error_code& reason) noexcept;
  bool is_down() const noexcept { return down_pending_; }
  /// The listener wants to hear something. Not after it was told the end.
  bool has_listener() const noexcept { return listener_ != nullptr; }

  /// From `begin_turn` to `end_turn` news are collected, and then delivered together.
  void begin_turn() noexcept { in_turn_ = true; }
  void end_turn();
  void deliver_later();
  /// Drops the listener and all that it was not told.
  void abandon() noexcept;

 private:
  struct finished {
    reply_handler handler;
    reply answer;
  };

  void deliver();

  boost::asio::any_io_executor strand_;
  link_listener* listener_;
  std::vector<std::variant<finished, watch_event>> heard_of_;
  session_key granted_;
  bool up_pending_ = false;
  bool down_pending_ = false;
  error_code down_reason_;
  bool delivery_scheduled_ = false;
  bool in_turn_ = false;
};

}  // namespace zkrecipes::backend
