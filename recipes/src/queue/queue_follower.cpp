#include "queue/queue_follower.hpp"

#include <utility>

#include "queue/attempts.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using backend::opcode;

queue_follower::queue_follower(shared_frame frame)
    : frame_(std::move(frame)),
      changed_(frame_->session->get_scheduler()),
      pause_(frame_->session->options().retry.first_pause, frame_->session->options().retry.max_pause) {}

/// Pauses after a server has refused a request (because it throttles, for example). Error: `operation_aborted`. A
/// session that is over is no error here, because the next try reports it.
awaitable<error_code> queue_follower::rest() {
  const auto& session = frame_->session;
  const bool rested = co_await session->rest(pause_);
  co_return rested || session->over() ? error_code() : make_error_code(asio::error::operation_aborted);
}

backend::request queue_follower::read(const std::string& name) const {
  return make_request(opcode::get, frame_->where.item(name));
}

/// Reads the list of items; while it is empty, waits for it to change.
awaitable<error_code> queue_follower::list() {
  const auto& session = frame_->session;
  const auto& path = frame_->where.items;
  for (;;) {
    auto hint = session->arm(watch_kind::children, path, changed_);
    auto children = make_request(opcode::children, path, true);
    auto listed = co_await session->perform(std::move(children), retry::always);
    if (listed.error == errc::no_node) {
      listed.error = co_await session->ensure_path(path);
      if (!listed.error) continue;
    }
    if (listed.error == errc::server_error) {
      listed.error = co_await rest();
      if (!listed.error) continue;
    }
    if (is_reply_lost(listed.error) || is_expired(listed.error)) continue;
    if (listed.error) co_return listed.error;
    pause_.reset();
    if (!is_ours_ && frame_->where.is_strange(listed.children)) co_return errc::foreign_data;
    is_ours_ = true;
    auto items = frame_->where.items_of(listed.children);
    std::erase_if(items, [&](const entry& each) { return skipped_.contains(each.name); });
    items_.assign(std::make_move_iterator(items.begin()), std::make_move_iterator(items.end()));
    if (!items_.empty()) co_return error_code();
    while (!hint->fired()) {
      auto why = co_await changed_.wait();
      if (why == wake::cancelled) co_return asio::error::operation_aborted;
    }
  }
}

awaitable<outcome<message>> queue_follower::next() {
  constexpr int max_misses = 3;
  for (int misses = 0;;) {
    if (items_.empty()) {
      auto error = co_await list();
      if (error) co_return failed<message>(error);
    }
    // The item returned last has most likely been removed by now, so we read it and the next one together. The names
    // are copied, because another operation may change the list while we wait.
    std::string name = items_.front().name;
    const std::string second = name == last_ && items_.size() > 1 ? items_[1].name : std::string();
    auto asked_first = frame_->session->send(read(name));
    exchange_ptr asked_second;
    if (!second.empty()) asked_second = frame_->session->send(read(second));
    auto answer = co_await frame_->session->answer(asked_first);
    if (answer.error == errc::no_node) {
      drop_item(name);
      if (name != last_ && ++misses == max_misses) items_.clear();  // other clients removed them: the list is old
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
      answer.error = co_await rest();
      if (!answer.error) continue;
    }
    if (answer.error == errc::no_auth) skip(name, answer.error);
    if (answer.error == errc::no_node || answer.error == errc::no_auth) continue;
    if (answer.error) co_return failed<message>(answer.error);
    last_ = name;
    pause_.reset();
    const auto attempts = attempts_of(answer.stat);
    co_return outcome<message>(error_code(), message{std::move(name), std::move(answer.data), answer.stat, attempts});
  }
}

void queue_follower::drop_item(const std::string& name) {
  if (!items_.empty() && items_.front().name == name) items_.pop_front();
}

/// An item that can not be read stays in the queue, and the items behind it go ahead.
void queue_follower::skip(const std::string& name, error_code why) {
  drop_item(name);
  if (skipped_.insert(name).second && frame_->options.on_unavailable_item)
    frame_->options.on_unavailable_item(why, name);
}

}  // namespace zkrecipes::detail
