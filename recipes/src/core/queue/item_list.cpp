#include "queue/item_list.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "backend/begin_once.hpp"
#include "session/background.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// A list is used up when one in this many of its items has been drawn.
constexpr std::size_t list_share = 8;
/// A list is read again after fewer draws if other takers are quicker, or if new items can come before those listed. At
/// most this many names are read for each draw.
constexpr std::size_t names_per_draw = 256;

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
  forget_gone(found);
  std::erase_if(found, [&](const entry& each) {
    return claimed.contains(each.name) || drawn_.contains(each.name) || skipped_.contains(each.name);
  });
  listed_ = found.size();
  draws_ = 0;
  // In a FIFO queue a new item never goes before those listed.
  draws_left_ = listed_ / (frame_->where.kind == queue_kind::fifo ? list_share : names_per_draw);
  const auto others =
      std::ranges::count_if(claimed, [this](const std::string& name) { return !is_claimed_by_us(name); });
  spread_.listed(static_cast<std::size_t>(others));
  items_.assign(std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
}

/// Whether this object has claimed the item, or is about to. Such a claim in a list tells nothing of other takers.
bool item_list::is_claimed_by_us(const std::string& name) const {
  return drawn_.contains(name) || claims_->holds(name);
}

/// Forgets what was noted of items that are not there any more.
void item_list::forget_gone(const std::vector<entry>& listed) {
  std::set<std::string> still_skipped;
  std::set<std::string> still_in_doubt;
  for (const auto& name : drawn_) {
    if (in_doubt_.contains(name)) still_in_doubt.insert(name);
  }
  for (const auto& each : listed) {
    if (skipped_.contains(each.name)) still_skipped.insert(each.name);
    if (in_doubt_.contains(each.name)) still_in_doubt.insert(each.name);
  }
  skipped_ = std::move(still_skipped);
  in_doubt_ = std::move(still_in_doubt);
}

}  // namespace zkrecipes::detail
