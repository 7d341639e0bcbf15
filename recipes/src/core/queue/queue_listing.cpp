#include "queue/queue_listing.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "backend/request.hpp"

namespace zkrecipes::detail {

using backend::opcode;

queue_listing::queue_listing(shared_frame frame)
    : frame_(std::move(frame)),
      clock_(frame_),
      changed_(frame_->session->get_scheduler()),
      pause_(frame_->session->options().retry.first_pause, frame_->session->options().retry.max_pause) {}

bool queue_listing::is_outdated() const { return frame_->where.kind != queue_kind::fifo && (!hint_ || hint_->fired()); }

std::size_t queue_listing::due() const {
  if (frame_->where.kind != queue_kind::delayed || items_.empty()) return items_.size();
  if (!clock_.is_known()) return 0;
  const auto present = clock_.earliest();
  const auto later = std::ranges::find_if(items_, [present](const entry& each) { return each.rank > present; });
  return static_cast<std::size_t>(later - items_.begin());
}

entry queue_listing::take_first() {
  auto first = std::move(items_.front());
  items_.pop_front();
  return first;
}

void queue_listing::drop(const std::string& name) {
  const auto which = std::ranges::find(items_, name, &entry::name);
  if (which != items_.end()) items_.erase(which);
}

void queue_listing::close() {
  forget();
  hint_.reset();
}

void queue_listing::skip(const std::string& name, error_code why) {
  drop(name);
  if (skipped_.insert(name).second && frame_->options.on_unavailable_item)
    frame_->options.on_unavailable_item(why, name);
}

backend::request queue_listing::request_of(const std::string& name) const {
  return make_request(opcode::get, frame_->where.item(name));
}

awaitable<error_code> queue_listing::rest() {
  const auto& session = frame_->session;
  const bool rested = co_await session->rest(pause_);
  co_return rested || session->over() ? error_code() : make_error_code(asio::error::operation_aborted);
}

awaitable<error_code> queue_listing::read(const std::set<std::string>& known) {
  for (;;) {
    watch_ptr hint;  // of this call, because another one can list the items at the same time
    auto error = co_await list_once(known, hint);
    if (is_reply_lost(error) || is_expired(error)) continue;
    if (error == errc::server_error) {
      error = co_await rest();
      if (!error) continue;
    }
    if (error) co_return error;
    pause_.reset();
    if (due() == 0) error = co_await wait_for_change(hint);
    if (!error && due() == 0) continue;
    if (frame_->where.kind != queue_kind::fifo) hint_ = hint;  // a new item can go before those listed
    co_return error;
  }
}

/// Creates the path if it is missing.
awaitable<error_code> queue_listing::list_once(const std::set<std::string>& known, watch_ptr& hint) {
  const auto& session = frame_->session;
  const auto& path = frame_->where.items;
  for (;;) {
    hint = session->arm(watch_kind::children, path, changed_);
    auto children = make_request(opcode::children, path, true);
    auto listed = co_await session->perform(std::move(children), retry::always);
    if (listed.error == errc::no_node) {
      listed.error = co_await session->ensure_path(path);
      if (!listed.error) continue;
    }
    if (listed.error) co_return listed.error;
    if (!is_ours_ && frame_->where.is_strange(listed.children)) co_return errc::foreign_data;
    is_ours_ = true;
    auto found = frame_->where.items_of(listed.children);
    std::erase_if(found, [&](const entry& each) { return skipped_.contains(each.name) || known.contains(each.name); });
    items_.assign(std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
    if (frame_->where.kind == queue_kind::delayed && !items_.empty()) co_return co_await clock_.learn();
    co_return error_code();
  }
}

awaitable<error_code> queue_listing::wait_for_change(watch_ptr hint) {
  const bool is_timed = frame_->where.kind == queue_kind::delayed && !items_.empty();
  const auto until = is_timed ? clock_.when(items_.front().rank) : never;
  while (!hint->fired()) {
    auto why = co_await changed_.wait(until);
    if (why == wake::cancelled) co_return asio::error::operation_aborted;
    if (why == wake::timed_out) co_return error_code();
  }
  co_return error_code();
}

}  // namespace zkrecipes::detail
