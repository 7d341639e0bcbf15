// A quorum queue with a single active consumer, as far as its deliveries go: for tests without a broker.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "rabbitmq/amqp_content.hpp"
#include "rabbitmq/queue_progress.hpp"

namespace zkrecipes::test {

/// It gives what was returned to it first, then the others, while fewer than `prefetch` are not acknowledged. The
/// connection takes its time: deliveries arrive when they are taken, acknowledgements when the test says so. The data
/// of a message is its number.
class simulated_queue {
 public:
  using delivery = detail::amqp_delivery;
  using acknowledgement = detail::delivery_tags::acknowledgement;

  explicit simulated_queue(std::size_t prefetch) : prefetch_(prefetch) {}

  /// Returns the number of the message.
  std::uint64_t put(const std::string& id) {
    ready_.push_back({++last_number_, id});
    deliver();
    return last_number_;
  }
  void connect() {
    is_connected_ = true;
    last_tag_ = 0;
    deliver();
  }
  /// Some of the acknowledgements that are on their way have arrived before, the others are lost.
  void disconnect(std::mt19937_64& random) {
    for (auto arrive = random() % (acknowledgements_.size() + 1); arrive > 0; --arrive) apply();
    is_connected_ = false;
    give_back();
    deliveries_.clear();
    acknowledgements_.clear();
  }
  /// The leader loses sight of the consumer for a moment: what is not acknowledged comes again on this connection, and
  /// what is said of the deliveries before means nothing any more.
  void flap() {
    give_back();
    deliver();
  }
  bool is_connected() const noexcept { return is_connected_; }

  std::optional<delivery> take() {
    if (deliveries_.empty()) return std::nullopt;
    auto first = std::move(deliveries_.front());
    deliveries_.pop_front();
    return first;
  }
  void acknowledge(const acknowledgement& what) { acknowledgements_.push_back(what); }
  /// The next acknowledgement arrives. False: there is none.
  bool let_arrive() {
    if (acknowledgements_.empty()) return false;
    apply();
    return true;
  }
  bool is_empty() const { return ready_.empty() && returned_.empty() && unacknowledged_.empty(); }

 private:
  struct stored {
    std::uint64_t number = 0;
    std::string id{};
    bool was_delivered = false;
  };

  void give_back() {
    for (auto& [tag, each] : unacknowledged_) returned_.push_back(std::move(each));
    unacknowledged_.clear();
  }
  void apply() {
    const auto what = acknowledgements_.front();
    acknowledgements_.pop_front();
    if (what.is_multiple)
      unacknowledged_.erase(unacknowledged_.begin(), unacknowledged_.upper_bound(what.tag));
    else
      unacknowledged_.erase(what.tag);
    deliver();
  }
  void deliver() {
    while (is_connected_ && unacknowledged_.size() < prefetch_ && !(returned_.empty() && ready_.empty())) {
      auto& from = returned_.empty() ? ready_ : returned_;
      auto next = std::move(from.front());
      from.pop_front();
      delivery made;
      made.tag = ++last_tag_;
      made.is_redelivered = std::exchange(next.was_delivered, true);
      made.id = next.id;
      made.data = std::to_string(next.number);
      deliveries_.push_back(std::move(made));
      unacknowledged_.emplace(last_tag_, std::move(next));
    }
  }

  std::size_t prefetch_;
  std::uint64_t last_number_ = 0;
  std::uint64_t last_tag_ = 0;
  bool is_connected_ = false;
  std::deque<stored> ready_;
  std::deque<stored> returned_;
  std::map<std::uint64_t, stored> unacknowledged_;  // by tag
  std::deque<delivery> deliveries_;                 // on their way to the consumer
  std::deque<acknowledgement> acknowledgements_;    // on their way to the queue
};

}  // namespace zkrecipes::test
