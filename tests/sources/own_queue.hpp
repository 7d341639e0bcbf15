// A queue of one's own: in memory, read through the public seam.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/external_source.hpp>

#include "sources/change_signal.hpp"
#include "sources/planned_faults.hpp"

namespace zkrecipes::test {

/// What all readers have in common.
struct queue_in_memory {
  std::deque<external_message> all{};  ///< Those that are not acknowledged.
  change_signal changed{};
  planned_faults faults{};
  std::map<std::string, int> acknowledged{};  ///< How often, by id, also where the queue did not note it.
  std::vector<std::string> forgotten{};
  std::size_t put_count = 0;
  int times = 1;                                               ///< Each message is delivered so often.
  std::size_t most = std::numeric_limits<std::size_t>::max();  ///< Messages of one call of `receive`.
  std::function<boost::asio::awaitable<void>()> read{};  ///< Called between the reading of messages and their receipt.
  int lost = 0;           ///< Acknowledgements that the queue will not note, although it reports no error.
  bool is_final = false;  ///< It tells the ids that can not come again.
  int opened = 0;
  int closed = 0;

  void put(const std::string& key, const std::string& data) {
    external_message one;
    one.id = "id " + std::to_string(++put_count);
    one.key = key;
    one.data = data;
    all.push_back(std::move(one));
    changed.notify();
  }
  void acknowledge(const std::vector<std::string>& ids) {
    for (const auto& each : ids) ++acknowledged[each];
    if (lost > 0) {
      --lost;
      return;
    }
    for (const auto& each : ids) {
      std::erase_if(all, [&each](const external_message& one) { return one.id == each; });
      if (is_final) forgotten.push_back(each);
    }
  }
};

class own_queue final : public external_queue {
 public:
  using kept = std::shared_ptr<queue_in_memory>;

  explicit own_queue(kept from) : from_(std::move(from)) {}

  std::string name() const override { return "queue of our own"; }

  boost::asio::awaitable<error_code> open() override {
    ++from_->opened;
    delivered_.clear();
    co_return from_->faults.take("open");
  }
  boost::asio::awaitable<external_batch> receive(std::size_t most) override {
    external_batch some;
    for (;;) {
      some.error = from_->faults.take("receive");
      if (!some.error) add_to(some.messages, most);
      const bool has_messages = !some.messages.empty();
      if (has_messages && from_->read) co_await from_->read();
      if (some.error || has_messages) co_return some;
      co_await from_->changed.wait();
    }
  }
  boost::asio::awaitable<error_code> acknowledge(std::vector<std::string> ids) override {
    const auto error = from_->faults.take("acknowledge");
    if (!error) from_->acknowledge(ids);
    co_return error;
  }
  std::vector<std::string> take_forgotten() override { return std::exchange(from_->forgotten, {}); }
  boost::asio::awaitable<void> close() override {
    ++from_->closed;
    from_->faults.take("close");
    co_return;
  }

 private:
  void add_to(std::vector<external_message>& some, std::size_t most) {
    for (const auto& each : from_->all) {
      auto& times = delivered_[each.id];
      for (; times < from_->times && some.size() < std::min(most, from_->most); ++times) some.push_back(each);
    }
  }

  kept from_;
  std::map<std::string, int> delivered_;  // since it was opened
};

}  // namespace zkrecipes::test
