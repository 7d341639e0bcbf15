// The scout of an item list. It runs while an operation waits for an item: it reads the list, stands in the line of
// waiting takers, and calls other takers.
#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include <boost/system/errc.hpp>

#include "line/waiter.hpp"
#include "queue/item_list.hpp"
#include "session/background.hpp"
#include "session/forwarding.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

constexpr std::string_view idle_marker = "idle-";
constexpr std::string_view idle_markers[] = {idle_marker};

/// The data of a taker's node while it waits. When the taker is called, the name of an item is written there.
constexpr const char* waits = "waits";

/// The first in line reads at most this many names per second, however often the queue changes.
constexpr std::size_t names_per_second = 50'000;
/// A taker that leaves the line calls at most this many others.
constexpr std::size_t max_calls = 256;

}  // namespace

/// Those who wait are told in any case how it ended.
awaitable<void> item_list::scout() {
  error_code error;
  try {
    error = co_await search();
  } catch (const std::bad_alloc&) {
    error = make_error_code(boost::system::errc::not_enough_memory);
  }
  if (node_) std::exchange(node_, nullptr)->leave_later();
  scouting_ = calling_ = false;
  if (error) {
    failure_ = error;
    ++failures_;
  }
  ready_.notify();
}

/// Runs while more operations wait than there are items at hand.
awaitable<error_code> item_list::search() {
  error_code error;
  if (std::exchange(steps_aside_, false)) {
    error = co_await get_in_line();
    if (!is_fatal(error)) error.clear();  // without a place in line we go on, because there are items
    spread_.forget();
  }
  while (waiting_ > 0 && !error) {
    if (node_ && node_->lost()) node_.reset();
    hints watching;
    look_again_ = false;
    if (!called_to()) {
      if (node_) watching = watch_all();
      error = co_await look(node_ != nullptr);
    }
    if (!error && called_to()) {
      watching = hints();  // they are not needed any more
      error = co_await answer_call();
    }
    if (error || ready() >= waiting_) break;
    if (!node_) {
      error = co_await get_in_line();
    } else {
      co_await wait_for_change(watching);
      if (due_ == 0) error = co_await step_back();
    }
  }
  if (!error && node_ && !node_->lost() && ready() > waiting_) co_await call_others();
  co_return error;
}

/// Returns when we are first in line, have been called, or nobody waits any more. Returns without an error, too, if the
/// node was lost with the connection or the session: then it has to be invoked again.
awaitable<error_code> item_list::get_in_line() {
  line_spec line{frame_->where.on_side(idle_folder), std::string(idle_marker), idle_markers};
  auto entered = co_await waiter::enter(frame_->session, std::move(line), waits);
  auto& [error, who] = entered;
  if (error == errc::session_expired || error == errc::connection_loss) co_return error_code();
  if (error) co_return error;
  node_ = who->node();
  if (waiting_ == 0) co_return error_code();
  const blocker turn = [this](std::span<const member> members, std::size_t self) -> std::optional<stretch> {
    if (called_to()) return std::nullopt;
    return nearest_ahead(members, self);
  };
  error = co_await who->wait_turn(turn);
  due_ = waiting_;  // as many as wait when the turn comes
  co_return node_->lost() ? error_code() : error;
}

/// Others are served first, now that each of those who waited here when our turn came could draw: takes are served in
/// the order in which they come, however many wait at one object.
awaitable<error_code> item_list::step_back() {
  if (node_) std::exchange(node_, nullptr)->leave_later();
  if (waiting_ == 0) co_return error_code();
  co_return co_await get_in_line();
}

/// The item that we were called for, if we were. The data of a call is the name of the item, and how many takers were
/// called.
std::optional<entry> item_list::called_to() const {
  if (!node_) return std::nullopt;
  const auto& call = node_->data();
  return frame_->where.parse(std::string_view(call).substr(0, call.find(' ')));
}

/// Leaves the line with the item of the call as the only one at hand. It is for us, but another taker may still be
/// quicker.
awaitable<error_code> item_list::answer_call() {
  auto what = called_to();
  const auto call = node_->data();
  std::exchange(node_, nullptr)->leave_later();
  items_.clear();
  draws_left_ = 0;
  if (drawn_.contains(what->name) || skipped_.contains(what->name)) co_return error_code();
  spread_.meets(std::strtoul(call.c_str() + what->name.size(), nullptr, 10));
  items_.push_back(std::move(*what));
  error_code error;
  if (frame_->where.kind == queue_kind::delayed) error = co_await clock_->learn();
  ready_.notify();
  co_return error;
}

/// Gives each of the next takers in line the name of another one of the items that are left, so that they claim at the
/// same time and do not compete for one item.
awaitable<void> item_list::call_others() {
  const auto folder = frame_->where.on_side(idle_folder);
  calling_ = true;
  auto listed = co_await frame_->session->perform(make_request(opcode::children, folder), retry::once);
  calling_ = false;
  const auto members = members_of(listed.children, idle_markers);
  auto next = std::ranges::find(members, node_->name(), &member::name);
  if (next == members.end()) co_return;
  const auto left = ready() - std::min(ready(), waiting_);
  const auto calls = std::min({static_cast<std::size_t>(members.end() - ++next), left, max_calls});
  if (calls == 0) co_return;
  const auto first = items_.begin() + static_cast<std::ptrdiff_t>(waiting_);
  for (std::size_t i = 0; i < calls; ++i) {
    auto call = make_request(opcode::set, join(folder, next[static_cast<std::ptrdiff_t>(i)].name));
    call.data = first[static_cast<std::ptrdiff_t>(i)].name + ' ' + std::to_string(calls);
    call.version = 0;
    frame_->session->send(std::move(call));
  }
  items_.erase(first, first + static_cast<std::ptrdiff_t>(calls));
  spread_.meets(calls);
}

item_list::hints item_list::watch_all() {
  hints all;
  all[0] = frame_->session->arm(watch_kind::children, frame_->where.items, changed_);
  if (frame_->where.is_apart()) all[1] = frame_->session->arm(watch_kind::children, frame_->where.side, changed_);
  return all;
}

awaitable<void> item_list::wait_for_change(const hints& watching) {
  auto fired = [](const std::unique_ptr<watch>& each) { return each && each->fired(); };
  const auto node = node_;
  const forwarding node_changes(node->changed(), changed_);
  while (waiting_ > 0 && due_ > 0 && !look_again_ && !node->lost() &&
         std::none_of(watching.begin(), watching.end(), fired)) {
    auto why = co_await changed_.wait(next_time());
    if (why != wake::notified) co_return;
  }
  while (waiting_ > 0 && due_ > 0 && !look_again_ && !node->lost() && frame_->session->now() < next_look_) {
    auto why = co_await changed_.wait(std::min(next_look_, next_time()));
    if (why != wake::notified) co_return;
  }
}

/// Reads the items and the claims in one round trip, unless something is missing or a request has to be repeated.
awaitable<error_code> item_list::look(bool watching) {
  const auto& session = frame_->session;
  const auto deadline = session->retry_deadline();
  auto pause = session->patience();
  for (;;) {
    // Checked once a second, because the scout must not keep a session open if all waiting operations were cancelled
    // meanwhile.
    auto error = co_await session->wait_connected(nullptr, session->now() + std::chrono::seconds(1));
    if (error == errc::timed_out && waiting_ > 0) continue;
    if (error) co_return error;
    auto items_request = make_request(opcode::children, frame_->where.items);
    auto side_request = make_request(opcode::children, frame_->where.side);
    items_request.watch = side_request.watch = watching;
    auto asked = session->send(items_request);
    exchange_ptr asked_side = frame_->where.is_apart() ? session->send(side_request) : nullptr;
    auto items = co_await session->answer(asked);
    backend::reply side;
    if (asked_side) side = co_await session->answer(asked_side);
    if ((items.throttled || side.throttled) && session->now() < deadline) {
      error = co_await session->outwait(pause, nullptr);
      if (error) co_return error;
      continue;
    }
    if (items.error == errc::connection_loss) items = co_await session->perform(items_request, retry::always);
    if (asked_side && side.error == errc::connection_loss) {
      side = co_await session->perform(side_request, retry::always);
    }
    if (side.error == errc::no_node) side.error.clear();  // nothing has been claimed yet
    if (items.error == errc::no_node) {
      error = co_await session->ensure_path(frame_->where.items);
      if (error && error != errc::connection_loss) co_return error;
      continue;
    }
    error = items.error ? items.error : side.error;
    if (error == errc::connection_loss || error == errc::session_expired) continue;
    if (!error && !is_ours_ && frame_->where.is_strange(items.children)) error = errc::foreign_data;
    if (error) co_return error;
    is_ours_ = true;
    apply(items, asked_side ? side.children : items.children);
    const auto names = items.children.size() + side.children.size();
    next_look_ = session->now() + std::chrono::microseconds(1'000'000 / names_per_second * names);
    if (frame_->where.kind == queue_kind::delayed && !items_.empty()) error = co_await clock_->learn();
    ready_.notify();
    co_return error;
  }
}

}  // namespace zkrecipes::detail
