// The operations on dead letters.
#include <utility>

#include "queue/dead_letter_folder.hpp"
#include "queue/key_mark.hpp"
#include "queue/queue_core.hpp"

namespace zkrecipes::detail {

using backend::opcode;

awaitable<outcome<std::vector<dead_letter>>> queue_core::dead_letters() {
  return read_letters(frame_->session, frame_->where.on_side(dead_folder));
}

/// Puts the item and removes the letter in one transaction, with the same limit as other puts. So after a lost reply a
/// letter that is still there proves that nothing was done.
awaitable<outcome<>> queue_core::revive(dead_letter which) {
  const auto& session = frame_->session;
  const auto path = frame_->where.on_side(std::string(dead_folder)) + '/' + which.name;
  const auto revival = revival_of(frame_->where, which);
  if (!revival) co_return outcome<>(errc::bad_arguments);
  auto refusal = co_await see_key_of(which.name);
  if (refusal) co_return outcome<>(refusal);
  for (;;) {
    std::size_t one = 1;
    auto entered = co_await capacity_->enter(one, true);
    auto& [error, pass] = entered;
    if (error) co_return outcome<>(error);
    auto all = *revival;
    capacity_->guard(all);
    auto result = co_await session->perform(backend::make_multi(all), retry::once);
    error = co_await capacity_->settle(result);
    const bool is_maybe_done = error == errc::outcome_unknown;
    if (is_maybe_done) error = co_await see_letter(session, path);
    if (error == errc::no_node && failed_at(result) > 0) {  // an operator removed the queue or our ticket
      error = co_await session->ensure_path(frame_->where.items);
      if (!error) continue;
    }
    const bool is_undone = error == errc::connection_loss || (is_maybe_done && !error);
    if (!is_undone) co_return outcome<>(error);
  }
}

/// A letter of a parked key is put back with the others of its key only, because they have an order.
awaitable<error_code> queue_core::see_key_of(const std::string& letter) {
  const auto mark = mark_of_letter(letter);
  if (mark.empty()) co_return error_code();
  const auto path = join(frame_->where.on_side(parked_folder), mark);
  auto there = co_await frame_->session->perform(make_request(opcode::exists, path), retry::always);
  if (there.error == errc::no_node) co_return error_code();
  co_return there.error ? there.error : make_error_code(errc::bad_arguments);
}

awaitable<outcome<>> queue_core::discard(dead_letter which) {
  return discard_letter(frame_->session, frame_->where.on_side(dead_folder), std::move(which.name));
}

}  // namespace zkrecipes::detail
