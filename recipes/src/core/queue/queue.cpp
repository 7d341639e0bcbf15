#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/queue.hpp>
#include <zkrecipes/queue_base.hpp>

#include "queue/queue_core.hpp"
#include "queue/queue_layout.hpp"
#include "queue/queue_listing.hpp"
#include "session/operation.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

/// Reads a queue in order without claims, one item at a time, for a client that is its only reader.
class queue_follower : public std::enable_shared_from_this<queue_follower> {
 public:
  explicit queue_follower(shared_frame frame);

  const scheduler_ptr& get_scheduler() const noexcept { return frame_->session->get_scheduler(); }
  awaitable<outcome<message>> next();

 private:
  shared_frame frame_;
  queue_listing list_;
  std::string last_;  // the name of the item that `next` returned last
};

queue_follower::queue_follower(shared_frame frame) : frame_(std::move(frame)), list_(frame_) {}

awaitable<outcome<message>> queue_follower::next() {
  constexpr int max_misses = 3;
  for (int misses = 0;;) {
    if (list_.items().empty()) {
      const std::set<std::string> none;
      auto error = co_await list_.read(none);
      if (error) co_return failed<message>(error);
    }
    // The item returned last has most likely been removed by now, so we read it and the next one together. The names
    // are copied, because another operation may change the list while we wait.
    const auto& items = list_.items();
    std::string name = items.front().name;
    const std::string second = name == last_ && items.size() > 1 ? items[1].name : std::string();
    auto asked_first = frame_->session->send(list_.request_of(name));
    exchange_ptr asked_second;
    if (!second.empty()) asked_second = frame_->session->send(list_.request_of(second));
    auto answer = co_await frame_->session->answer(asked_first);
    if (answer.error == errc::no_node) {
      list_.drop(name);
      if (name != last_ && ++misses == max_misses) list_.forget();  // other clients removed them: the list is old
      if (!asked_second) continue;
      name = second;
      answer = co_await frame_->session->answer(asked_second);
    }
    if (is_reply_lost(answer.error) || is_expired(answer.error)) {
      auto error = co_await frame_->session->wait_connected(nullptr, never);
      if (error) co_return failed<message>(error);
      continue;
    }
    if (answer.error == errc::server_error) {
      answer.error = co_await list_.rest();
      if (!answer.error) continue;
    }
    if (answer.error == errc::no_auth) list_.skip(name, answer.error);
    if (answer.error == errc::no_node || answer.error == errc::no_auth) continue;
    if (answer.error) co_return failed<message>(answer.error);
    last_ = name;
    list_.reset_pause();
    const auto attempts = attempts_of(answer.stat);
    co_return outcome<message>(error_code(), message{std::move(name), std::move(answer.data), answer.stat, attempts});
  }
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

using namespace detail;

queue::queue(session over, std::string path, queue_options options)
    : queue_base(over, queue_core::make(over, queue_kind::fifo, std::move(path), std::move(options))),
      follower_(std::make_shared<queue_follower>(get_queue()->frame())) {}

transaction queue::removal(const message& item) const { return transaction().remove(join(path(), item.name)); }

void queue::start_put(handler_for<void(error_code, std::string)> h, core_ptr core, std::string data) {
  launch(std::move(h), core->get_putter(), &putter::put, new_item{0, std::move(data)});
}

void queue::start_put_many(handler_for<void(error_code, names)> h, core_ptr core, std::vector<std::string> items) {
  std::vector<new_item> all;
  for (auto& each : items) all.push_back({0, std::move(each)});
  launch(std::move(h), core->get_putter(), &putter::put_many, std::move(all));
}

void queue::start_next(handler_for<void(error_code, message)> h, follower_ptr follower) {
  launch_endless(std::move(h), std::move(follower), &queue_follower::next);
}

}  // namespace zkrecipes
