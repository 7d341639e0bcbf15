// A log of one's own: in memory, read through the public seam.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/external_source.hpp>

#include "sources/change_signal.hpp"
#include "sources/planned_faults.hpp"

namespace zkrecipes::test {

/// What all readers have in common.
struct log_in_memory {
  std::vector<external_message> all{};
  change_signal changed{};
  planned_faults faults{};
  std::vector<std::string> opened{};    ///< The places.
  std::vector<std::string> consumed{};  ///< The places.
  int closed = 0;
  int open_now = 0;
  int most_open = 0;  ///< At the same time.

  void put(const std::string& key, const std::string& data) {
    external_message one;
    one.id = "row " + std::to_string(all.size() + 1);
    one.key = key;
    one.data = data;
    one.timestamp = 1'700'000'000'000;
    all.push_back(std::move(one));
    changed.notify();
  }
  /// The index of the first message behind it.
  std::size_t behind(const std::string& place) const {
    if (place.empty()) return 0;
    const auto found = std::ranges::find(all, place, &external_message::id);
    if (found == all.end()) throw std::runtime_error("there was no such place: " + place);
    return static_cast<std::size_t>(found - all.begin()) + 1;
  }
};

class own_log final : public external_log {
 public:
  using kept = std::shared_ptr<log_in_memory>;

  explicit own_log(kept from) : from_(std::move(from)) {}

  std::string name() const override { return "log of our own"; }

  boost::asio::awaitable<error_code> open(std::string place) override {
    from_->opened.push_back(place);
    from_->most_open = std::max(from_->most_open, ++from_->open_now);
    const auto error = from_->faults.take("open");
    if (!error) next_ = from_->behind(place);
    co_return error;
  }
  boost::asio::awaitable<external_batch> receive(std::size_t most) override {
    external_batch some;
    for (;;) {
      some.error = from_->faults.take("receive");
      while (!some.error && next_ < from_->all.size() && some.messages.size() < most) {
        some.messages.push_back(from_->all[next_++]);
      }
      if (some.error || !some.messages.empty()) co_return some;
      co_await from_->changed.wait();
    }
  }
  boost::asio::awaitable<error_code> consumed(std::string place) override {
    from_->consumed.push_back(place);
    co_return from_->faults.take("consumed");
  }
  boost::asio::awaitable<void> close() override {
    ++from_->closed;
    --from_->open_now;
    from_->faults.take("close");
    co_return;
  }

 private:
  kept from_;
  std::size_t next_ = 0;
};

}  // namespace zkrecipes::test
