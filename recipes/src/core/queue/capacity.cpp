#include "queue/capacity.hpp"

#include <algorithm>
#include <utility>

#include "backend/begin_once.hpp"
#include "line/line_spec.hpp"
#include "session/outcomes.hpp"
#include "session/together.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;
using backend::opcode;

namespace {

constexpr std::string_view ticket_marker = "t-";
constexpr std::string_view ticket_markers[] = {ticket_marker};
/// A folder with up to this many nodes is listed: the items' folder to tell items from claims and other nodes, the gate
/// to see which tickets are out. In a longer items' folder all but a few nodes count as items.
constexpr std::size_t max_listed = 1000;
/// A ticket that is drawn in advance takes room from other producers. So it is drawn only while at least this much room
/// is left, or half of the limit if that is less.
constexpr std::int64_t ample = 64;
/// A ticket that was drawn in advance is given back if this long nothing is put.
constexpr auto idle_time = 1s;

}  // namespace

awaitable<error_code> ticket_gate::admit(std::size_t& some, bool all_or_none) {
  const auto& session = frame_->session;
  is_busy_ = true;
  busy_until_ = session->retry_deadline();
  error_code error;
  do {
    error = co_await session->wait_connected(nullptr, never);
    if (error) break;
    forget_ended();
    error = co_await admit_once(some);
  } while (is_reply_lost(error) || is_expired(error));
  const auto permitted = std::min(admitted(), some);
  if (!error) is_tight_ = permitted < some;
  if (!error && (permitted == 0 || (all_or_none && permitted < some))) error = errc::full;
  give_back(error ? 0 : permitted);
  is_busy_ = !error;
  if (error) co_return error;
  some = in_use_ = permitted;
  co_return error;
}

/// Draws the tickets that are missing, and looks, plainly first and then closely, to see whether they may put.
awaitable<error_code> ticket_gate::admit_once(std::size_t some) {
  error_code error;
  if (is_tight_ && held_.empty()) {  // look first, so that no ticket is drawn in vain
    error = co_await look_at(look::plain);
    if (!error && issued_ >= below_) error = co_await look_at(look::close);
    if (!error && issued_ >= below_) error = errc::full;
    known_ = false;
  }
  const bool is_new = held_.empty();
  if (!error && held_.size() < some) error = co_await draw(some - held_.size());
  if (!error && !is_new && admitted() < some) error = co_await look_at(look::plain);
  if (!error && admitted() < some) error = co_await look_at(look::close);
  co_return error;
}

/// The first tickets are drawn in the same round trip as a plain look.
awaitable<error_code> ticket_gate::draw(std::size_t so_many) {
  const auto& session = frame_->session;
  if (session->current() != bound_) co_return errc::session_expired;  // it ended since `admit` began: try again
  const bool is_first = held_.empty();
  if (is_first) known_ = false;  // the gate may have been removed and created again since
  const auto guid = session->make_guid();
  transaction all;
  for (std::size_t i = 0; i < so_many; ++i) all.create(unnumbered(guid), {}, create_mode::ephemeral_sequential);
  auto drawing = session->send(backend::make_multi(all));
  error_code error;
  if (is_first) error = co_await look_at(look::plain);
  auto drawn = co_await session->answer(drawing);
  if (drawn.error == errc::no_node) {
    give_back(0);
    error = co_await prepare();
    co_return error ? error : make_error_code(errc::connection_loss);  // not done: try again
  }
  if (drawn.throttled && session->now() < busy_until_) {
    auto pause = session->backoff();
    error = co_await session->pause_before_retry(pause, bound_);
    co_return error ? error : make_error_code(errc::connection_loss);  // not done either: try again
  }
  const bool is_open = drawn.error == errc::connection_loss || drawn.error == asio::error::operation_aborted;
  if (is_open && drawn.sent) abandon(guid);
  if (drawn.error) co_return drawn.error;
  take_up(drawn.results, so_many);
  if (are_used_up()) error = co_await renew();
  co_return error;
}

bool ticket_gate::are_used_up() const {
  return !held_.empty() && is_exhausted(static_cast<std::int32_t>(held_.back().number));
}

/// Removes the gate together with our tickets, so that the numbers begin anew. The server refuses this while other
/// producers have tickets there; they give theirs back, too.
awaitable<error_code> ticket_gate::renew() {
  transaction all;
  for (const auto& each : held_) all.remove(each.path);
  all.remove(path_);
  auto done = co_await frame_->session->perform(backend::make_multi(all), retry::once, bound_);
  if (!done.error) held_.clear();
  give_back(0);
  const bool is_undone = done.error && done.error != errc::not_empty && done.error != errc::no_node;
  if (is_undone) co_return done.error;
  if (!done.error) pauses_.reset();
  const bool again = !done.error || co_await frame_->session->rest(pauses_, bound_);
  const bool is_over = frame_->session->over() || bound_->ended;
  co_return again || is_over ? make_error_code(errc::connection_loss) : asio::error::operation_aborted;
}

awaitable<error_code> ticket_gate::prepare() {
  auto error = co_await frame_->session->ensure_path(frame_->where.items);
  if (!error) error = co_await frame_->session->ensure_path(path_);
  co_return error;
}

/// The creates of the tickets are the last operations of a transaction.
void ticket_gate::take_up(const std::vector<operation_result>& made, std::size_t so_many) {
  for (auto i = made.size() - std::min(so_many, made.size()); i < made.size(); ++i) {
    const auto number = parse_sequence(name_of(made[i].path), ticket_markers);
    if (number) held_.push_back({made[i].path, *number});
  }
}

std::string ticket_gate::unnumbered(const std::string& guid) const {
  return join(path_, protected_name(guid, ticket_marker));
}

/// The gate is read first and the items' folder last, as the proof at `ticket_gate` requires. The other nodes beside
/// the items are looked up in between, so that those which are subtracted from the count were there before it.
std::vector<backend::request> ticket_gate::look_requests(look how) const {
  const auto& where = frame_->where;
  const bool lists_tickets = how == look::close && tickets_ <= max_listed;
  std::vector<backend::request> all{make_request(lists_tickets ? opcode::children : opcode::exists, path_)};
  const bool lists = how == look::close && children_ <= max_listed;
  if (how == look::close && !lists && !where.is_apart()) {
    for (auto beside : {idle_folder, dead_folder, clock_name}) {
      all.push_back(make_request(opcode::exists, where.on_side(beside)));
    }
  }
  all.push_back(make_request(lists ? opcode::children : opcode::exists, where.items));
  return all;
}

awaitable<error_code> ticket_gate::look_at(look how) {
  auto requests = look_requests(how);
  auto looked = co_await perform_together(frame_->session, std::move(requests), persistence::endless);
  auto& [error, seen] = looked;
  if (error) co_return error;
  for (const auto* each : {&seen.front(), &seen.back()}) {
    if (each->error && each->error != errc::no_node) co_return each->error;
  }
  update(seen);
  co_return error;
}

void ticket_gate::update(const std::vector<backend::reply>& seen) {
  const auto& tickets = seen.front().stat;
  const auto& items = seen.back();
  std::int64_t beside = frame_->where.is_apart() ? 0 : 1;  // the gate
  for (std::size_t i = 1; i + 1 < seen.size(); ++i) beside += seen[i].error ? 0 : 1;
  auto present = std::max<std::int64_t>(items.stat.num_children - beside, 0);
  if (!items.children.empty()) present = std::ssize(frame_->where.items_of(items.children));
  children_ = items.children.empty() ? static_cast<std::size_t>(items.stat.num_children) : items.children.size();
  tickets_ = static_cast<std::size_t>(tickets.num_children);
  issued_ = (static_cast<std::uint32_t>(tickets.cversion) + static_cast<std::uint32_t>(tickets.num_children)) / 2;
  const auto limit = static_cast<std::int64_t>(frame_->options.limit);
  const auto reach = reach_of(seen.front(), limit - present);
  below_ = known_ ? std::max(below_, reach) : reach;
  known_ = true;
}

/// The number below which tickets may put. If more tickets are out than there is room for, only the first of them may;
/// without a list it is not known which, so this look admits none.
std::int64_t ticket_gate::reach_of(const backend::reply& tickets, std::int64_t places) const {
  std::vector<std::int64_t> out;
  for (const auto& name : tickets.children) {
    const auto is_here = [&](const std::string& guid) { return name.find(guid) != name.npos; };
    if (std::ranges::any_of(abandoned_, is_here)) continue;
    if (auto number = parse_sequence(name, ticket_markers)) out.push_back(*number);
  }
  const auto so_many = tickets.children.empty() ? std::int64_t(tickets_) : std::ssize(out);
  if (places >= so_many) return issued_ + places - so_many;
  if (out.empty()) return 0;
  std::ranges::sort(out);
  return out[static_cast<std::size_t>(std::max<std::int64_t>(places, 0))];
}

std::size_t ticket_gate::admitted() const {
  if (!known_) return 0;
  const auto end = std::ranges::find_if(held_, [this](const ticket& each) { return each.number >= below_; });
  return static_cast<std::size_t>(end - held_.begin());
}

bool ticket_gate::is_ample() const {
  const auto left = below_ - held_[in_use_ - 1].number - 1 - static_cast<std::int64_t>(in_use_);
  return left >= std::min<std::int64_t>(static_cast<std::int64_t>(frame_->options.limit / 2), ample);
}

void ticket_gate::pass(transaction& all, bool is_next_here) {
  for (std::size_t i = 0; i < in_use_; ++i) all.remove(held_[i].path);
  const bool is_first = last_ == lease_clock::time_point();
  const bool is_steady = is_next_here || (!is_first && frame_->session->now() - last_ < idle_time);
  next_ = is_steady && is_ample() ? in_use_ : 0;
  next_guid_ = next_ ? frame_->session->make_guid() : std::string();
  for (std::size_t i = 0; i < next_; ++i) all.create(unnumbered(next_guid_), {}, create_mode::ephemeral_sequential);
}

awaitable<error_code> ticket_gate::settle(const backend::reply& answer) {
  auto error = answer.error;
  if (error == errc::connection_loss && answer.sent) error = co_await after_loss();
  if (!error) {
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(in_use_));
    take_up(answer.results, next_);
    if (are_used_up()) give_back(0);
  }
  const bool is_open = error == errc::outcome_unknown || error == asio::error::operation_aborted;
  if (is_open && next_) abandon(next_guid_);
  if (error && error != errc::connection_loss) give_back(0);
  in_use_ = next_ = 0;
  is_busy_ = false;
  last_ = frame_->session->now();
  if (held_.empty()) known_ = false;
  const auto keep = [this] {
    launch_detached(frame_->session->strand(), owning(shared_from_this(), &ticket_gate::keep));
  };
  if (!held_.empty()) begin_once(is_kept_, keep);
  co_return error;
}

/// While our ticket is there, nothing was put. If it has gone, the put may have been done, or an operator may have
/// removed the ticket.
awaitable<error_code> ticket_gate::after_loss() {
  auto ask = make_request(opcode::exists, held_.front().path);
  backend::reply there;
  do {
    there = co_await frame_->session->perform(ask, retry::always, bound_);
  } while (there.error == errc::connection_loss);
  if (there.error == asio::error::operation_aborted) co_return there.error;
  co_return there.error ? errc::outcome_unknown : errc::connection_loss;
}

/// Forgets the tickets of an ended session, because they ended with it.
void ticket_gate::forget_ended() {
  auto present = frame_->session->current();
  if (std::exchange(bound_, present) == present) return;
  held_.clear();
  abandoned_.clear();
  known_ = false;
}

/// Tickets that may have been drawn by a request without an answer are never used. They are removed in the background.
void ticket_gate::abandon(const std::string& guid) {
  abandoned_.push_back(guid);
  frame_->session->remove_all_surely(path_, guid, bound_);
}

/// Gives back all tickets but the first `from`, in the background.
void ticket_gate::give_back(std::size_t from) {
  std::vector<std::string> paths;
  for (; held_.size() > from; held_.pop_back()) paths.push_back(std::move(held_.back().path));
  if (held_.empty()) known_ = false;
  if (paths.empty()) return;
  auto session = frame_->session;
  launch_detached(session->strand(), remove_all(session, std::move(paths), bound_));
}

awaitable<void> ticket_gate::remove_all(core_ptr session, std::vector<std::string> paths, incarnation_ptr bound) {
  transaction all;
  for (const auto& each : paths) all.remove(each);
  auto done = co_await session->perform(backend::make_multi(all), retry::once, bound);
  if (!done.error) co_return;
  for (auto& each : paths) session->remove_surely(std::move(each), bound);
}

/// Gives back the tickets in hand when nothing has been put for `idle_time`.
awaitable<void> ticket_gate::keep() {
  const auto& session = frame_->session;
  while (!held_.empty() && !session->ended()) {
    const auto present = session->now();
    if (!is_busy_ && present >= last_ + idle_time) give_back(0);
    if (!held_.empty()) co_await session->changed().wait(std::max(last_, present - idle_time / 2) + idle_time);
  }
  is_kept_ = false;
}

namespace {

constexpr std::size_t puts_between_measures = 128;  // fewer if the list is nearly too long
/// Nine tenths of all sequence numbers.
constexpr std::int32_t many_numbers = 0x7fffffff / 10 * 9;

}  // namespace

std::size_t list_bytes(const queue_layout& where, std::size_t children) {
  constexpr std::size_t digits = 10;
  constexpr std::size_t length_field = 4;
  return children * (where.marker(0).size() + digits + length_field);
}

bool capacity::is_overlong() const noexcept {
  return frame_->options.max_list_bytes != 0 && list_bytes_ >= frame_->options.max_list_bytes;
}

/// Whether the length of the list is measured. Not if the limit keeps it short enough, even with a claim beside each
/// item: an item and its claim take less than three names of items.
bool capacity::is_measured() const noexcept {
  const auto& options = frame_->options;
  const auto most = options.max_list_bytes;
  return most != 0 && (!has_limit() || options.limit > most || list_bytes(frame_->where, 3 * options.limit) > most);
}

awaitable<outcome<capacity::pass>> capacity::enter(std::size_t& some, bool all_or_none) {
  auto error = co_await check_length(some);
  if (error || !has_limit()) co_return outcome<pass>(error, pass());
  ++waiting_;
  auto mine = co_await turns_.enter(frame_->session->get_scheduler());
  --waiting_;
  if (!mine) co_return outcome<pass>(asio::error::operation_aborted, pass());
  error = co_await gate_->admit(some, all_or_none);
  if (error) co_return outcome<pass>(error, pass());
  co_return outcome<pass>(error, std::move(mine));
}

/// Measures the list before the first put of an object and after a refusal. Later measurements are sent together with a
/// put, at no further round trip.
awaitable<error_code> capacity::check_length(std::size_t some) {
  error_code error;
  const bool is_due = is_measured() && (!has_measured_ || is_overlong());
  if (is_due || is_exhausted(number_)) error = co_await measure_once();
  if (!error && is_exhausted(number_)) error = errc::sequence_exhausted;
  if (error || !is_measured()) co_return error;
  if (is_overlong()) co_return errc::full;
  if (puts_left_ < some) {
    puts_left_ = puts_between_measures;
    launch_detached(frame_->session->strand(), owning(shared_from_this(), &capacity::measure_later));
  }
  puts_left_ -= std::min(puts_left_, some);
  co_return error;
}

void capacity::guard(transaction& all) {
  if (has_limit()) gate_->pass(all, waiting_ > 0);
}

awaitable<error_code> capacity::settle(const backend::reply& answer) {
  if (has_limit()) co_return co_await gate_->settle(answer);
  const bool is_open = answer.error == errc::connection_loss && answer.sent;
  co_return is_open ? make_error_code(errc::outcome_unknown) : answer.error;
}

/// One measurement serves all puts that wait for it.
awaitable<error_code> capacity::measure_once() {
  const auto before = measures_;
  auto mine = co_await measuring_.enter(frame_->session->get_scheduler());
  if (!mine) co_return asio::error::operation_aborted;
  if (measures_ != before) co_return error_code();
  co_return co_await measure();
}

awaitable<error_code> capacity::measure() {
  auto look = make_request(opcode::exists, frame_->where.items);
  auto there = co_await frame_->session->perform(std::move(look), retry::always);
  record_length(there);
  co_return there.error == errc::no_node ? error_code() : there.error;
}

/// Sent together with the put that made it necessary. Tried only once, because no operation waits for it.
awaitable<void> capacity::measure_later() {
  auto asked = frame_->session->send(make_request(opcode::exists, frame_->where.items));
  auto there = co_await frame_->session->answer(asked);
  record_length(there);
}

void capacity::record_length(const backend::reply& there) {
  if (there.error && there.error != errc::no_node) return;
  has_measured_ = true;
  ++measures_;
  const auto& folder = there.stat;
  list_bytes_ = list_bytes(frame_->where, static_cast<std::size_t>(folder.num_children));
  const auto most = frame_->options.max_list_bytes;
  const auto items_left = (most - std::min(most, list_bytes_)) / list_bytes(frame_->where, 1);
  puts_left_ = std::clamp<std::size_t>(items_left / 2, 1, puts_between_measures);
  const auto changes = static_cast<std::uint32_t>(folder.cversion) + static_cast<std::uint32_t>(folder.num_children);
  record_number(static_cast<std::int32_t>(changes / 2));  // the number of nodes ever created: the next number
}

void capacity::on_name(std::string_view name) {
  if (auto what = frame_->where.parse(name)) record_number(what->sequence);
}

void capacity::record_number(std::int32_t number) {
  number_ = number;
  const bool is_high = number < 0 || number >= many_numbers;
  if (!is_high || std::exchange(is_told_, true) || !frame_->options.on_unavailable_item) return;
  frame_->options.on_unavailable_item(errc::sequence_exhausted, frame_->where.items);
}

}  // namespace zkrecipes::detail
