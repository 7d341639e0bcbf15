#include "queue/room.hpp"

#include <algorithm>
#include <utility>

namespace zkrecipes::detail {

using backend::opcode;

namespace {

constexpr std::size_t puts_between_measures = 128;

}  // namespace

std::size_t list_bytes(const queue_layout& where, std::size_t children) {
  constexpr std::size_t digits = 10;
  constexpr std::size_t length_field = 4;
  return children * (where.marker(0).size() + digits + length_field);
}

bool room::is_overlong() const noexcept {
  return frame_->options.most_list_bytes != 0 && list_bytes_ >= frame_->options.most_list_bytes;
}

awaitable<outcome<room::pass>> room::enter(std::size_t& some, bool all_or_none) {
  error_code error;
  if (is_overlong()) error = co_await measure();
  if (!error && is_overlong()) error = errc::full;
  if (!error && frame_->options.most_list_bytes != 0 && puts_left_ < some) {
    puts_left_ = puts_between_measures;
    launch_detached(frame_->session->strand(), owning(shared_from_this(), &room::measure_later));
  }
  puts_left_ -= std::min(puts_left_, some);
  if (error || !has_limit()) co_return outcome<pass>(error, pass());
  auto mine = co_await turns_.enter(frame_->session->get_scheduler());
  if (!mine) co_return outcome<pass>(asio::error::operation_aborted, pass());
  const auto limit = frame_->options.limit;
  if (!known_ || items_ + some > limit) error = co_await count(some);
  const auto left = limit - std::min(limit, items_);
  if (!error && (left == 0 || (all_or_none && left < some))) error = errc::full;
  if (error) co_return outcome<pass>(error, pass());
  some = std::min(some, left);
  co_return outcome<pass>(error, std::move(mine));
}

void room::guard(transaction& all) const {
  if (has_limit()) all.set(frame_->where.on_side(gate_name), {}, version_);
}

void room::put(const backend::reply& answer, std::size_t so_many) {
  if (!has_limit()) return;
  known_ = !answer.error;
  if (answer.error) return;
  items_ += so_many;
  version_ = answer.results.back().stat.version;
}

awaitable<error_code> room::count(std::size_t needed) {
  const auto& session = frame_->session;
  const auto gate = frame_->where.on_side(gate_name);
  for (;;) {
    auto error = co_await session->wait_connected(nullptr, never);
    if (error) co_return error;
    auto asked_gate = session->send(make_request(opcode::get, gate));
    auto asked_stat = session->send(make_request(opcode::exists, frame_->where.items));
    auto seen = co_await session->answer(asked_gate);
    auto stat = co_await session->answer(asked_stat);
    if (seen.error == errc::no_node || stat.error == errc::no_node) {
      error = co_await session->ensure_path(frame_->where.items);
      if (!error) error = co_await session->ensure_path(gate);
      if (error && error != errc::connection_loss) co_return error;
      continue;
    }
    if (!seen.error) seen.error = stat.error;
    auto present = static_cast<std::size_t>(stat.stat.num_children);
    if (!seen.error && present + needed > frame_->options.limit) {  // not all of these need be items
      auto listed = co_await session->perform(make_request(opcode::children, frame_->where.items), retry::always);
      seen.error = listed.error;
      present = frame_->where.items_of(listed.children).size();
    }
    if (seen.error == errc::connection_loss || seen.error == errc::session_expired) continue;
    if (seen.error) co_return seen.error;
    items_ = present;
    version_ = seen.stat.version;
    known_ = true;
    co_return error_code();
  }
}

awaitable<error_code> room::measure() {
  auto there = co_await frame_->session->perform(make_request(opcode::exists, frame_->where.items), retry::always);
  note_length(there);
  co_return there.error == errc::no_node ? error_code() : there.error;
}

/// Travels with the put that made it necessary. Asked once: it is nobody's operation.
awaitable<void> room::measure_later() {
  auto asked = frame_->session->send(make_request(opcode::exists, frame_->where.items));
  auto there = co_await frame_->session->answer(asked);
  note_length(there);
}

void room::note_length(const backend::reply& there) {
  if (there.error && there.error != errc::no_node) return;
  list_bytes_ = list_bytes(frame_->where, static_cast<std::size_t>(there.stat.num_children));
}

}  // namespace zkrecipes::detail
