#include "queue/stock.hpp"

#include <algorithm>
#include <utility>

namespace zkrecipes::detail {

using backend::opcode;

namespace {

constexpr std::string_view idle_marker = "idle-";
constexpr std::string_view idle_markers[] = {idle_marker};

/// A list is used up when this part of it has been drawn.
constexpr std::size_t list_share = 8;
/// Who has missed goes further afield in a long list, not to miss again beside the same rival.
constexpr std::size_t widest = 16;

}  // namespace

stock::stock(shared_frame frame, std::shared_ptr<server_clock> clock)
    : frame_(std::move(frame)), clock_(std::move(clock)), ready_(frame_->session->get_scheduler()) {}

awaitable<outcome<entry>> stock::draw() {
  ++waiting_;
  const auto failures_seen = failures_;
  error_code error;
  auto drawn = draw_at_hand();
  while (!drawn && !error) {
    if (!refreshing_ && !std::exchange(scouting_, true)) {
      launch_detached(frame_->session->strand(), owning(shared_from_this(), &stock::scout));
    }
    auto why = co_await ready_.wait();
    drawn = why == wake::cancelled ? std::nullopt : draw_at_hand();
    if (why == wake::cancelled) error = asio::error::operation_aborted;
    if (!drawn && !error && failures_ != failures_seen) error = failure_;
  }
  if (--waiting_ == 0 && place_) place_->leave_later();
  co_return outcome<entry>(error, drawn ? std::move(*drawn) : entry{});
}

std::optional<entry> stock::draw_at_hand() {
  if (ready() == 0) return std::nullopt;
  const auto which = items_.begin() + static_cast<std::ptrdiff_t>(pick());
  auto drawn = std::move(*which);
  items_.erase(which);
  drawn_.insert(drawn.name);
  draws_left_ -= std::min<std::size_t>(draws_left_, 1);
  return drawn;
}

void stock::look_ahead() {
  if (draws_left_ > 0 || scouting_ || std::exchange(refreshing_, true)) return;
  launch_detached(frame_->session->strand(), owning(shared_from_this(), &stock::refresh));
}

std::size_t stock::pick() const {
  if (misses_ == 0) return 0;
  const auto reach = std::min({std::size_t{1} << std::min<std::size_t>(misses_, 8), widest, items_.size()});
  const auto index = frame_->session->get_scheduler()->world->random() % reach;
  return items_[index].rank == items_.front().rank ? index : 0;
}

/// How many items at hand may be taken now.
std::size_t stock::ready() const {
  if (frame_->where.kind != queue_kind::delayed || items_.empty()) return items_.size();
  if (!clock_->is_known()) return 0;
  const auto present = clock_->earliest();
  auto later = [present](const entry& each) { return each.rank > present; };
  return static_cast<std::size_t>(std::find_if(items_.begin(), items_.end(), later) - items_.begin());
}

lease_clock::time_point stock::next_time() const {
  const bool is_timed = frame_->where.kind == queue_kind::delayed && !items_.empty();
  return is_timed ? clock_->when(items_.front().rank) : never;
}

void stock::settled(const std::string& name) {
  drawn_.erase(name);
  misses_ = 0;
}

void stock::missed(const std::string& name) {
  drawn_.erase(name);
  const bool is_list_old = draws_left_ > 0;  // else a new one has travelled along, and knows better
  if (in_doubt_.erase(name) == 0 && is_list_old) ++misses_;
}

void stock::lost_sight_of(const std::string& name) {
  drawn_.erase(name);
  in_doubt_.insert(name);
  items_.clear();
  returned();
}

void stock::put_back(const std::string& name) {
  drawn_.erase(name);
  returned();
  auto what = frame_->where.parse(name);
  if (!what || items_.empty()) return;  // an empty list is read again anyway
  auto goes_first = [](const entry& a, const entry& b) {
    return a.rank != b.rank ? a.rank < b.rank : before(a.sequence, b.sequence);
  };
  auto where = std::lower_bound(items_.begin(), items_.end(), *what, goes_first);
  if (where == items_.end() || where->name != name) items_.insert(where, std::move(*what));
}

/// The scout may have looked while it was drawn, and wait for a change that will not come: nothing has happened there.
void stock::returned() {
  look_again_ = true;
  if (place_) place_->changed().notify();
}

void stock::skip(const std::string& name, error_code why) {
  drawn_.erase(name);
  if (skipped_.insert(name).second && frame_->options.on_trouble) frame_->options.on_trouble(why, name);
}

/// Asked once: it is nobody's operation, and must not keep a session that nobody has any more. What is wrong is for
/// whoever needs the list.
awaitable<void> stock::refresh() {
  const auto& session = frame_->session;
  const bool is_apart = frame_->where.is_apart();
  auto asked = session->send(make_request(opcode::children, frame_->where.items));
  exchange_ptr asked_side = is_apart ? session->send(make_request(opcode::children, frame_->where.side)) : nullptr;
  auto items = co_await session->answer(asked);
  backend::reply side;
  if (is_apart) side = co_await session->answer(asked_side);
  const bool is_whole = !items.error && (!side.error || side.error == errc::no_node);
  if (is_whole) apply(items, is_apart ? side.children : items.children);
  refreshing_ = false;
  ready_.notify();
}

/// Runs for as long as somebody waits in vain.
awaitable<void> stock::scout() {
  error_code error;
  while (waiting_ > 0 && !error) {
    if (place_ && place_->lost()) place_.reset();
    hints watching;
    look_again_ = false;
    if (place_) watching = watch_all();
    error = co_await look(place_ != nullptr);
    if (error || ready() >= waiting_) break;
    if (!place_) {
      error = co_await get_in_line();
    } else {
      co_await wait_for_change(watching);
    }
  }
  if (place_) std::exchange(place_, nullptr)->leave_later();
  scouting_ = false;
  if (error) {
    failure_ = error;
    ++failures_;
  }
  ready_.notify();
}

/// Comes back first in line, or to be called again.
awaitable<error_code> stock::get_in_line() {
  line_spec line{frame_->where.on_side(idle_folder), std::string(idle_marker), idle_markers};
  auto entered = co_await place::enter(frame_->session, std::move(line), "waits");
  auto& [error, where] = entered;
  if (error == errc::session_expired || error == errc::connection_loss) co_return error_code();
  if (error) co_return error;
  place_ = std::move(where);
  if (waiting_ == 0) co_return error_code();
  error = co_await place_->wait_turn(&nearest_ahead);
  co_return place_->lost() ? error_code() : error;
}

stock::hints stock::watch_all() {
  hints all;
  auto& tell = place_->changed();
  all[0] = frame_->session->arm(watch_kind::children, frame_->where.items, tell);
  if (frame_->where.is_apart()) all[1] = frame_->session->arm(watch_kind::children, frame_->where.side, tell);
  return all;
}

awaitable<void> stock::wait_for_change(const hints& watching) {
  auto fired = [](const std::unique_ptr<watch>& each) { return each && each->fired(); };
  auto where = place_;
  while (waiting_ > 0 && !look_again_ && !where->lost() && std::none_of(watching.begin(), watching.end(), fired)) {
    auto why = co_await where->changed().wait(next_time());
    if (why != wake::notified) break;
  }
}

/// Reads what there is; at no other cost than one round trip, unless something is missing.
awaitable<error_code> stock::look(bool watching) {
  const auto& session = frame_->session;
  for (;;) {
    // Looked at now and then: who has given up meanwhile wants no session kept open for it.
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
    if (error) co_return error;
    apply(items, asked_side ? side.children : items.children);
    if (frame_->where.kind == queue_kind::delayed && !items_.empty()) error = co_await clock_->learn();
    ready_.notify();
    co_return error;
  }
}

void stock::apply(const backend::reply& items, const std::vector<std::string>& side) {
  std::set<std::string, std::less<>> claimed;
  for (const auto& name : side) {
    if (name.starts_with(claim_prefix)) claimed.insert(name.substr(claim_prefix.size()));
  }
  auto found = frame_->where.items_of(items.children);
  std::set<std::string> still_skipped;
  std::set<std::string> still_in_doubt;
  for (const auto& name : drawn_) {
    if (in_doubt_.contains(name)) still_in_doubt.insert(name);
  }
  auto is_taken = [&](const entry& each) {
    if (skipped_.contains(each.name)) still_skipped.insert(each.name);
    if (in_doubt_.contains(each.name)) still_in_doubt.insert(each.name);
    return claimed.contains(each.name) || drawn_.contains(each.name) || skipped_.contains(each.name);
  };
  std::erase_if(found, is_taken);
  skipped_ = std::move(still_skipped);
  in_doubt_ = std::move(still_in_doubt);
  draws_left_ = found.size() / list_share;
  misses_ = 0;
  items_.assign(std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
}

}  // namespace zkrecipes::detail
