// What ends puts that have no connection.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include <boost/asio/cancellation_signal.hpp>

#include "session/reach_limit.hpp"

namespace zkrecipes::detail {

/// The limit of the puts that arrived together. On the strand.
class put_reach {
 public:
  /// `end` is called when the limit is reached; it must not destroy this.
  put_reach(const scheduler_ptr& on, std::function<void()> end) : limit_(on, on->reach.get()), mine_(*limit_, signal_) {
    signal_.slot().assign([end = std::move(end)](asio::cancellation_type) { end(); });
  }
  put_reach(const put_reach&) = delete;

  bool is_over() const noexcept { return mine_.is_over(); }

 private:
  std::shared_ptr<reach_limit> limit_;  // it lives by the world of the scheduler
  asio::cancellation_signal signal_;
  reach_limit::waiting mine_;
};

}  // namespace zkrecipes::detail
