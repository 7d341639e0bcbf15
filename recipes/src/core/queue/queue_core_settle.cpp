// Settles an item that was taken: it is acknowledged, given back, or made a dead letter.
#include <algorithm>
#include <utility>

#include "line/node_name.hpp"
#include "queue/attempts.hpp"
#include "queue/dead_letter.hpp"
#include "queue/queue_core.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// A claim ends with its session, so `session_expired` is `superseded` to the caller.
error_code of_claim(error_code error) {
  return error == errc::session_expired ? make_error_code(errc::superseded) : error;
}

}  // namespace

awaitable<outcome<>> queue_core::acknowledge(message item, transaction effects) {
  co_return outcome<>(co_await claims_->settle(claim_id(item), std::move(effects)));
}

awaitable<outcome<>> queue_core::give_back(message item, return_to where, std::string reason) {
  const claim_id which(item);
  if (!claims_->has(which)) co_return outcome<>(errc::superseded);
  const auto most = frame_->options.max_attempts;
  if (most != 0 && item.attempts >= most) {
    if (reason.empty()) reason = "given back too often";
    co_return outcome<>(co_await bury(claim_id(item), item.attempts, std::move(reason)));
  }
  if (where == return_to::end) co_return outcome<>(co_await move_to_end(which));
  auto error = co_await claims_->release(which);
  // The removal of the claim was sent also if nobody waits for its answer: the next claim comes after it.
  if (!error || is_cancelled(error)) items_->put_back(item.name);
  co_return outcome<>(error);
}

awaitable<outcome<>> queue_core::reject(message item, std::string reason) {
  co_return outcome<>(co_await bury(claim_id(item), item.attempts, std::move(reason)));
}

/// Moves an item from the queue to the dead letters, in one transaction. The item is read again, because the caller's
/// copy may be out of date.
awaitable<error_code> queue_core::bury(claim_id which, std::int32_t attempts, std::string reason) {
  for (;;) {
    auto read = co_await claims_->read_again(which);
    if (read.error) co_return read.error;
    dead_letter buried;
    buried.item = which.name;
    buried.attempts = attempts;
    buried.reason = reason;
    buried.data = std::move(read.data);
    transaction letter;
    letter.create(frame_->where.on_side(std::string(dead_folder) + "/letter-"), write_letter(buried),
                  create_mode::persistent_sequential);
    auto error = co_await claims_->settle(which, std::move(letter));
    if (error != errc::no_node) co_return error;
    error = co_await frame_->session->ensure_path(frame_->where.on_side(dead_folder), claims_->bound_of(which));
    if (error) co_return of_claim(error);
  }
}

/// Creates the item again as a new node with a new number. The number has to be known before that transaction, because
/// the transaction also counts the attempts below the new node. So an ephemeral node draws the number, and the same
/// transaction removes it.
awaitable<error_code> queue_core::move_to_end(claim_id which) {
  const auto& session = frame_->session;
  const auto& where = frame_->where;
  auto bound = claims_->bound_of(which);
  auto what = where.parse(which.name);
  if (!what || !bound || bound->ended) co_return errc::superseded;
  const auto guid = session->make_guid();
  auto draw = make_request(opcode::create, where.item(std::string(return_prefix) + guid + '-'));
  draw.mode = create_mode::ephemeral_sequential;
  const auto connection = session->counters().connects;
  try {
    auto drawing = session->send(draw);
    auto read = co_await claims_->read_again(which);
    auto number = co_await session->answer(drawing);
    if ((number.error == errc::connection_loss || number.throttled) && !read.error) {
      number = co_await session->perform(std::move(draw), retry::always, bound);
    }
    auto error = read.error ? read.error : number.error;
    const auto marker = guid + '-';
    const std::string_view markers[] = {marker};
    const auto drawn = error ? std::nullopt : parse_sequence(name_of(number.path), markers);
    if (drawn && is_exhausted(*drawn)) error = errc::sequence_exhausted;
    if (!error) {
      const auto digits = number.path.substr(number.path.size() - 10);
      const auto moved = where.item(where.marker(what->rank) + digits);
      transaction rest;
      rest.remove(number.path).create(moved, std::move(read.data));
      count_attempts(rest, moved, std::min(attempts_of(read.stat), 100));
      error = co_await claims_->settle(which, std::move(rest));
    }
    // Remove nodes that have drawn a number and are still there: a lost reply may have left a second one, and the
    // settlement may have failed (an operator removed the item, for example) and removed none.
    const bool maybe_left = session->counters().connects != connection;
    if (maybe_left || (error && number.error != errc::no_node)) session->remove_all_surely(where.items, guid, bound);
    co_return of_claim(error);
  } catch (...) {  // no memory
    session->remove_all_surely(where.items, guid, bound);
    throw;
  }
}

}  // namespace zkrecipes::detail
