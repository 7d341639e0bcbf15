#include "queue/queue_follower.hpp"

#include <set>
#include <utility>

#include "queue/attempts.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

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
