#include "queue/capacity.hpp"

#include <algorithm>
#include <utility>

#include "line/line_spec.hpp"

namespace zkrecipes::detail {

using backend::opcode;

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
