#include "queue/item_list.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include <boost/system/errc.hpp>

#include "backend/begin_once.hpp"
#include "line/waiter.hpp"
#include "session/background.hpp"
#include "session/condition.hpp"

namespace zkrecipes::detail {

namespace {

/// A claim in time multiplies the reach by this, and a late one doubles it. So about one claim in eleven is late, at
/// any number of takers.
constexpr double shrinking = 15.0 / 16;
/// The reach per taker at which no more claims than these are late.
constexpr double reach_per_taker = 24;
/// The reach after the first late claim, when nothing is known of the other takers: one item in this many of the list,
/// within these bounds.
constexpr std::size_t first_share = 8;
constexpr std::size_t least_first = 16;
constexpr std::size_t max_first = 512;
/// A list is crowded if the reach is more than this many times the number of items in it.
constexpr double least_share = 6;
constexpr double longest_reach = 1e6;
/// The claims in a list count as at most this many takers, because one taker can have many claims.
constexpr std::size_t max_others = 64;
constexpr std::size_t run_length = 16;
/// One in this many new lists is begun at the front, so that the oldest item does not depend on chance.
constexpr std::uint64_t front_runs = 8;

}  // namespace

std::size_t spread::next(const std::deque<entry>& items, std::size_t ready) const {
  if (reach_ < 2) return 0;
  if (run_left_ == 0) return ready;
  const auto end = items.begin() + static_cast<std::ptrdiff_t>(ready);
  return static_cast<std::size_t>(std::upper_bound(items.begin(), end, last_, goes_first) - items.begin());
}

std::size_t spread::pick(const std::deque<entry>& items, std::size_t ready) {
  auto which = next(items, ready);
  if (which == ready) which = begin_run(ready);
  run_left_ -= std::min<std::size_t>(run_left_, 1);
  last_ = items[which];
  return which;
}

std::size_t spread::begin_run(std::size_t ready) {
  run_left_ = run_length;
  if (std::exchange(is_list_new_, false) && random_() % front_runs == 0) return 0;
  return random_() % std::min(static_cast<std::size_t>(reach_), ready);
}

void spread::was_in_time() { reach_ = std::max(reach_ * shrinking, 1.0); }

void spread::was_late(std::size_t ready) {
  const auto first = static_cast<double>(std::clamp(ready / first_share, least_first, max_first));
  reach_ = std::min(std::max(2 * reach_, first), longest_reach);
  run_left_ = 0;
  was_late_ = true;
}

void spread::meets(std::size_t others) {
  reach_ = std::max(reach_, reach_per_taker * static_cast<double>(std::min(others, max_others)));
}

void spread::listed(std::size_t others) {
  if (std::exchange(was_late_, false)) meets(others);
  is_list_new_ = true;
  run_left_ = 0;
}

bool spread::is_crowded(std::size_t ready) const noexcept { return reach_ > least_share * static_cast<double>(ready); }

void spread::forget() noexcept {
  reach_ = 1;
  run_left_ = 0;
}

using backend::opcode;

namespace {

/// A list is used up when one in this many of its items has been drawn.
constexpr std::size_t list_share = 8;
/// A list is read again after fewer draws if other takers are quicker, or if new items can come before those listed. At
/// most this many names are read for each draw.
constexpr std::size_t names_per_draw = 256;

/// Those of the names that are still there.
std::set<std::string> listed_among(const std::set<std::string>& names, const std::vector<entry>& listed) {
  std::set<std::string> found;
  for (const auto& each : listed) {
    if (names.contains(each.name)) found.insert(each.name);
  }
  return found;
}

}  // namespace

item_list::item_list(shared_frame frame, std::shared_ptr<server_clock> clock, std::shared_ptr<const claims> ours)
    : frame_(std::move(frame)),
      clock_(std::move(clock)),
      claims_(std::move(ours)),
      spread_([session = frame_->session.get()] { return session->get_scheduler()->world->random(); }),
      ready_(frame_->session->get_scheduler()),
      changed_(frame_->session->get_scheduler()) {}

/// One that waits for an item. Nobody stands in line any more for one that an exception has ended.
class item_list::drawing {
 public:
  explicit drawing(item_list& from) : from_(from) { ++from_.waiting_; }
  drawing(const drawing&) = delete;
  ~drawing() {
    if (--from_.waiting_ == 0 && from_.node_ && !from_.calling_) from_.node_->leave_later();
  }

 private:
  item_list& from_;
};

awaitable<outcome<entry>> item_list::draw() {
  const drawing here(*this);
  const auto failures_seen = failures_;
  error_code error;
  auto drawn = draw_at_hand();
  while (!drawn && !error) {
    const auto scout = [this] {
      launch_detached(frame_->session->strand(), owning(shared_from_this(), &item_list::scout));
    };
    if (!refreshing_) begin_once(scouting_, scout);
    // A scout without a session ends before we begin to wait for it, so its result is looked at without waiting.
    auto why = wake::notified;
    if (scouting_ || refreshing_) why = co_await ready_.wait();
    drawn = why == wake::cancelled ? std::nullopt : draw_at_hand();
    if (why == wake::cancelled) error = asio::error::operation_aborted;
    if (!drawn && !error && failures_ != failures_seen) error = failure_;
  }
  co_return outcome<entry>(error, drawn ? std::move(*drawn) : entry{});
}

std::optional<entry> item_list::draw_at_hand() {
  const auto choice = ready();
  if (choice == 0 || steps_aside_) return std::nullopt;
  const auto which = items_.begin() + static_cast<std::ptrdiff_t>(spread_.pick(items_, choice));
  auto drawn = std::move(*which);
  items_.erase(which);
  drawn_.insert(drawn.name);
  ++draws_;
  if (due_ > 0 && --due_ == 0) changed_.notify();
  draws_left_ -= std::min<std::size_t>(draws_left_, 1);
  return drawn;
}

const entry* item_list::next() const {
  const auto choice = ready();
  const auto which = spread_.next(items_, choice);
  return which < choice ? &items_[which] : nullptr;
}

void item_list::look_ahead() {
  if (draws_left_ > 0 || scouting_) return;
  begin_once(refreshing_,
             [this] { launch_detached(frame_->session->strand(), owning(shared_from_this(), &item_list::refresh)); });
}

/// How many items at hand may be taken now.
std::size_t item_list::ready() const {
  if (frame_->where.kind != queue_kind::delayed || items_.empty()) return items_.size();
  if (!clock_->is_known()) return 0;
  const auto present = clock_->earliest();
  auto later = [present](const entry& each) { return each.rank > present; };
  return static_cast<std::size_t>(std::find_if(items_.begin(), items_.end(), later) - items_.begin());
}

lease_clock::time_point item_list::next_time() const {
  const bool is_timed = frame_->where.kind == queue_kind::delayed && !items_.empty();
  return is_timed ? clock_->when(items_.front().rank) : never;
}

void item_list::settled(const std::string& name) {
  drawn_.erase(name);
  spread_.was_in_time();
}

void item_list::missed(const std::string& name) {
  drawn_.erase(name);
  if (in_doubt_.erase(name) != 0) return;
  spread_.was_late(ready());
  if (draws_ >= listed_ / names_per_draw) draws_left_ = 0;
  steps_aside_ = !scouting_ && spread_.is_crowded(ready());  // a scout at work is in line, or gets there
}

void item_list::lost_sight_of(const std::string& name) {
  drawn_.erase(name);
  in_doubt_.insert(name);
  items_.clear();
  returned();
}

void item_list::put_back(const std::string& name) {
  drawn_.erase(name);
  returned();
  auto what = frame_->where.parse(name);
  if (!what || items_.empty()) return;  // an empty list is read again anyway
  auto where = std::lower_bound(items_.begin(), items_.end(), *what, goes_first);
  if (where == items_.end() || where->name != name) items_.insert(where, std::move(*what));
}

/// Makes the scout look again. It may have read the list while the item was drawn, and it would wait in vain for a
/// change, because nothing changed on the server.
void item_list::returned() {
  look_again_ = true;
  changed_.notify();
}

void item_list::skip(const std::string& name, error_code why) {
  drawn_.erase(name);
  if (skipped_.insert(name).second && frame_->options.on_unavailable_item)
    frame_->options.on_unavailable_item(why, name);
}

/// Reads the list once, without retries, because no operation waits for it and it must not keep a session alive that is
/// no longer used. Errors are left to the operation that needs the list.
awaitable<void> item_list::refresh() {
  try {
    co_await list_once();
  } catch (const std::bad_alloc&) {
  }
  refreshing_ = false;
  ready_.notify();
}

awaitable<void> item_list::list_once() {
  const auto& session = frame_->session;
  const bool is_apart = frame_->where.is_apart();
  auto asked = session->send(make_request(opcode::children, frame_->where.items));
  exchange_ptr asked_side = is_apart ? session->send(make_request(opcode::children, frame_->where.side)) : nullptr;
  auto items = co_await session->answer(asked);
  backend::reply side;
  if (is_apart) side = co_await session->answer(asked_side);
  const bool is_whole = !items.error && (!side.error || side.error == errc::no_node);
  if (is_whole) apply(items, is_apart ? side.children : items.children);
}

void item_list::apply(const backend::reply& items, const std::vector<std::string>& side) {
  std::set<std::string, std::less<>> claimed;
  for (const auto& name : side) {
    if (name.starts_with(claim_prefix)) claimed.insert(name.substr(claim_prefix.size()));
  }
  auto found = frame_->where.items_of(items.children);
  auto still_skipped = listed_among(skipped_, found);
  auto still_in_doubt = listed_among(in_doubt_, found);
  for (const auto& name : drawn_) {
    if (in_doubt_.contains(name)) still_in_doubt.insert(name);
  }
  skipped_ = std::move(still_skipped);
  in_doubt_ = std::move(still_in_doubt);
  std::erase_if(found, [&](const entry& each) {
    return claimed.contains(each.name) || drawn_.contains(each.name) || skipped_.contains(each.name);
  });
  listed_ = found.size();
  draws_ = 0;
  // In a FIFO queue a new item never goes before those listed.
  draws_left_ = listed_ / (frame_->where.kind == queue_kind::fifo ? list_share : names_per_draw);
  // A claim of this object, or one that it is about to make, tells nothing of other takers.
  const auto others = std::ranges::count_if(
      claimed, [this](const std::string& name) { return !drawn_.contains(name) && !claims_->holds(name); });
  spread_.listed(static_cast<std::size_t>(others));
  items_.assign(std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
}

// The scout of an item list. It runs while an operation waits for an item: it reads the list, stands in the line of
// waiting takers, and calls other takers.

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
  auto who = std::make_shared<waiter>(frame_->session, std::move(line), waits);
  auto entered = co_await who->enter();
  auto& [error] = entered;
  if (error == errc::session_expired || error == errc::connection_loss) co_return error_code();
  if (error) co_return error;
  node_ = who->node();
  if (waiting_ == 0) co_return error_code();
  const blocker turn = [this](std::span<const member> members, std::size_t self) -> std::optional<stretch> {
    if (called_to()) return std::nullopt;
    return nearest_ahead(members, self);
  };
  error = co_await who->wait(turn);
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
  const auto& call = node_->content().data;
  return frame_->where.parse(std::string_view(call).substr(0, call.find(' ')));
}

/// Leaves the line with the item of the call as the only one at hand. It is for us, but another taker may still be
/// quicker.
awaitable<error_code> item_list::answer_call() {
  auto what = called_to();
  const auto call = node_->content().data;
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
  auto pause = session->backoff();
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
      error = co_await session->pause_before_retry(pause, nullptr);
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
