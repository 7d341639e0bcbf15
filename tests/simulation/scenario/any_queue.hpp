// A queue of any kind: FIFO, priority or delay.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/delay_queue.hpp>
#include <zkrecipes/priority_queue.hpp>
#include <zkrecipes/queue.hpp>

#include "queue/queue_layout.hpp"

namespace zkrecipes::simulation {

class any_queue {
 public:
  any_queue(const session& over, detail::queue_kind kind, const std::string& path, const queue_options& options = {}) {
    using detail::queue_kind;
    if (kind == queue_kind::fifo) fifo_ = std::make_unique<queue>(over, path, options);
    if (kind == queue_kind::priority) by_priority_ = std::make_unique<priority_queue>(over, path, options);
    if (kind == queue_kind::delayed) delayed_ = std::make_unique<delay_queue>(over, path, options);
  }

  queue_base& base() const {
    if (fifo_) return *fifo_;
    return by_priority_ ? static_cast<queue_base&>(*by_priority_) : *delayed_;
  }
  queue& fifo() const { return *fifo_; }
  /// Whether several items can be put at once: not into a delay queue.
  bool puts_many() const noexcept { return !delayed_; }

  /// Ignores `priority` or `delay` if this kind of queue has no use for it.
  template <class Token>
  auto async_put(std::string data, int priority, std::chrono::milliseconds delay, Token&& token) {
    if (fifo_) return fifo_->async_put(std::move(data), std::forward<Token>(token));
    if (delayed_) return delayed_->async_put(std::move(data), delay, std::forward<Token>(token));
    return by_priority_->async_put(std::move(data), priority, std::forward<Token>(token));
  }
  template <class Token>
  auto async_put_many(const std::vector<prioritized>& items, Token&& token) {
    if (by_priority_) return by_priority_->async_put_many(items, std::forward<Token>(token));
    std::vector<std::string> plain;
    for (const auto& each : items) plain.push_back(each.data);
    return fifo_->async_put_many(std::move(plain), std::forward<Token>(token));
  }

 private:
  std::unique_ptr<queue> fifo_;
  std::unique_ptr<priority_queue> by_priority_;
  std::unique_ptr<delay_queue> delayed_;
};

}  // namespace zkrecipes::simulation
