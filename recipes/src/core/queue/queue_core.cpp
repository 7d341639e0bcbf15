#include "queue/queue_core.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "backend/request.hpp"
#include "line/line_spec.hpp"
#include "queue/queue_layout.hpp"
#include "session/operation.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using backend::opcode;

std::shared_ptr<queue_core> queue_core::make(const session& over, queue_kind kind, std::string path,
                                             queue_options options) {
  require_path("queue path", path);
  if (options.max_attempts < 0 || options.max_attempts > 100) {
    throw std::invalid_argument("queue_options::max_attempts: it must be from 0 to 100");
  }
  const auto session = require_session(over);
  options.on_unavailable_item = guarded(*session->get_scheduler(), std::move(options.on_unavailable_item));
  auto frame =
      std::make_shared<queue_frame>(queue_frame{session, queue_layout(kind, std::move(path)), std::move(options)});
  return std::make_shared<queue_core>(std::move(frame));
}

queue_core::queue_core(shared_frame frame)
    : frame_(std::move(frame)),
      clock_(std::make_shared<server_clock>(frame_)),
      claims_(std::make_shared<claims>(frame_, clock_)),
      items_(std::make_shared<item_list>(frame_, clock_, claims_)),
      capacity_(std::make_shared<capacity>(frame_)),
      putter_(std::make_shared<putter>(frame_, clock_, capacity_)) {}

// Taking: draw an item, claim it, hand it out.

namespace {

constexpr std::size_t max_at_once = 1000;

/// The result does not end the operation: it goes on with the next item, or in the next session.
bool is_passing(const claim_result& result) {
  const auto& error = result.error;
  return result.at_item || error == errc::node_exists || error == errc::no_node || error == errc::busy ||
         error == errc::session_expired || error == errc::bad_version;
}

}  // namespace

awaitable<outcome<message>> queue_core::take() {
  for (;;) {
    auto drawn = co_await items_->draw();
    auto& [error, what] = drawn;
    if (error) co_return failed<message>(error);
    std::array<claims::attempt, 1> begun;
    try {
      error = co_await frame_->session->wait_connected(nullptr, never);
      if (error) {
        items_->put_back(what.name);
        co_return failed<message>(error);
      }
      items_->look_ahead();
      begun.front() = claims_->begin(what);
      auto taken = co_await take_drawn(begun.front());
      if (std::get<0>(taken) != errc::busy) co_return taken;
    } catch (...) {  // no memory
      give_up(begun, {&what, 1});
      throw;
    }
  }
}

/// For want of memory. A second failure ends the process.
void queue_core::give_up(std::span<const claims::attempt> begun, std::span<const entry> all) noexcept {
  for (const auto& each : begun) claims_->abandon(each);
  for (const auto& each : all) items_->lost_sight_of(each.name);
}

/// Error `busy`: this item is not to be had, try another one. An exception leaves the attempt to the caller.
awaitable<outcome<message>> queue_core::take_drawn(claims::attempt& begun) {
  auto result = co_await claims_->finish(begun);
  begun.claiming.reset();
  after(begun.what.name, result);
  if (is_passing(result)) co_return failed<message>(errc::busy);
  const auto most = frame_->options.max_attempts;
  if (result.error || most == 0 || result.item.attempts <= most) {
    co_return outcome<message>(result.error, std::move(result.item));
  }
  // The session of the last taker ended, so there is no reason from that taker.
  const claim_id which(result.item);
  error_code error;
  try {
    error = co_await make_dead_letter(which, result.item.attempts - 1,
                                      "no taker acknowledged it in queue_options::max_attempts deliveries");
  } catch (...) {  // no memory
    take_back_surely(result.item);
    throw;
  }
  const bool is_open = claims_->has(which);
  if (is_open) claims_->take_back(result.item);
  if (error == asio::error::operation_aborted) co_return failed<message>(error);
  if (is_open) items_->skip(result.item.name, error);
  co_return failed<message>(errc::busy);
}

void queue_core::take_back_surely(const message& item) noexcept {
  if (claims_->has(claim_id(item))) claims_->take_back(item);
}

void queue_core::after(const std::string& name, const claim_result& result) {
  if (!result.error) {
    items_->settled(name);
  } else if (result.at_item) {
    items_->skip(name, result.error);
  } else if (result.error == errc::node_exists || result.error == errc::no_node) {
    items_->missed(name);
  } else if (result.error == errc::busy) {
    items_->put_back(name);
  } else {
    items_->lost_sight_of(name);
  }
}

awaitable<outcome<std::vector<message>>> queue_core::take_many(std::size_t most) {
  using result_type = outcome<std::vector<message>>;
  if (most < 1 || most > max_at_once) co_return result_type(errc::bad_arguments, {});
  std::vector<message> taken;
  error_code error;
  while (taken.empty() && !error) {
    auto drawn = co_await items_->draw();
    error = std::get<0>(drawn);
    if (error) break;
    std::vector<entry> all(1);
    all.front() = std::move(std::get<1>(drawn));
    std::vector<claims::attempt> begun;
    try {
      error = co_await frame_->session->wait_connected(nullptr, never);
      if (error) {
        items_->put_back(all.front().name);
        break;
      }
      while (all.size() < most) {
        auto more = items_->draw_at_hand();
        if (!more) break;
        all.push_back(std::move(*more));
      }
      begun.reserve(all.size());
      taken.reserve(all.size());
      items_->look_ahead();
      for (const auto& each : all) begun.push_back(claims_->begin(each));
      for (auto& each : begun) {
        auto one = co_await take_drawn(each);
        auto& [why, item] = one;
        if (!why) taken.push_back(std::move(item));
        if (why && why != errc::busy) error = why;
      }
    } catch (...) {  // no memory: the caller is told of none of them
      give_up(begun, all);
      for (const auto& each : taken) take_back_surely(each);
      throw;
    }
  }
  if (error == asio::error::operation_aborted) {  // the caller is told of none of them
    for (const auto& each : taken) {
      claims_->take_back(each);
      items_->put_back(each.name);
    }
    taken.clear();
  }
  if (!taken.empty()) error.clear();
  co_return result_type(error, std::move(taken));
}

/// Reads the data of an item before it removes it, so that a lost reply loses no data. The next item is read in the
/// same round trip.
awaitable<outcome<message>> queue_core::pop() {
  if (frame_->where.kind == queue_kind::delayed) co_return co_await pop_by_claim();
  for (;;) {
    auto drawn = co_await items_->draw();
    auto& [error, what] = drawn;
    if (error) co_return failed<message>(error);
    try {
      auto result = co_await pop_drawn(what);
      after(what.name, result);
      if (!is_passing(result)) co_return outcome<message>(result.error, std::move(result.item));
    } catch (...) {  // no memory
      items_->lost_sight_of(what.name);
      throw;
    }
  }
}

awaitable<claim_result> queue_core::pop_drawn(entry what) {
  const auto& session = frame_->session;
  claim_result result;
  auto read = co_await read_for_pop(what.name);
  result.error = read.error;
  result.at_item = read.error == errc::no_auth;
  if (result.error) co_return result;
  exchange_ptr asked;
  std::string following = items_->next() ? items_->next()->name : std::string();
  if (!following.empty()) asked = session->send(make_request(opcode::get, frame_->where.item(following)));
  items_->look_ahead();
  message item{what.name, std::move(read.data), read.stat, attempts_of(read.stat)};
  result = co_await claims_->remove(std::move(item));
  if (result.error == errc::outcome_unknown) {
    auto there = co_await is_there(what.name);
    if (there) result.error = errc::session_expired;
  }
  if (!asked) co_return result;
  auto ahead = co_await session->answer(asked);
  read_ahead_.reset();
  if (!ahead.error) read_ahead_.emplace(std::move(following), std::move(ahead));
  co_return result;
}

/// Whether an item is still there after a removal with an unknown outcome: then it was not removed.
awaitable<bool> queue_core::is_there(std::string name) {
  auto look = make_request(opcode::exists, frame_->where.item(name));
  auto seen = co_await frame_->session->perform(std::move(look), retry::always);
  co_return !seen.error;
}

awaitable<backend::reply> queue_core::read_for_pop(std::string name) {
  if (read_ahead_ && read_ahead_->first == name) {
    auto known = std::move(read_ahead_->second);
    read_ahead_.reset();
    auto error = co_await frame_->session->wait_connected(nullptr, never);
    if (error) known.error = error;
    co_return known;
  }
  co_return co_await frame_->session->perform(make_request(opcode::get, frame_->where.item(name)), retry::always);
}

/// A delayed item is claimed first: the claim's time stamp says whether it is early.
awaitable<outcome<message>> queue_core::pop_by_claim() {
  for (;;) {
    auto taken = co_await take();
    auto& [error, item] = taken;
    if (error) co_return taken;
    constexpr bool is_once = true;
    try {
      error = co_await claims_->settle(claim_id(item), transaction(), is_once);
    } catch (...) {  // no memory
      take_back_surely(item);
      throw;
    }
    if (error) claims_->take_back(item);
    const bool is_passing = error == errc::superseded || error == errc::not_empty || error == errc::no_auth;
    if (!is_passing) co_return taken;
    if (error != errc::superseded) items_->skip(item.name, error);
  }
}

// Settles an item that was taken: it is acknowledged, given back, or made a dead letter.

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
    co_return outcome<>(co_await make_dead_letter(claim_id(item), item.attempts, std::move(reason)));
  }
  if (where == return_to::end) co_return outcome<>(co_await move_to_end(which));
  auto error = co_await claims_->release(which);
  // The removal of the claim was sent also if nobody waits for its answer: the next claim comes after it.
  if (!error || is_cancelled(error)) items_->put_back(item.name);
  co_return outcome<>(error);
}

awaitable<outcome<>> queue_core::reject(message item, std::string reason) {
  co_return outcome<>(co_await make_dead_letter(claim_id(item), item.attempts, std::move(reason)));
}

/// Moves an item from the queue to the dead letters, in one transaction. The item is read again, because the caller's
/// copy may be out of date.
awaitable<error_code> queue_core::make_dead_letter(claim_id which, std::int32_t attempts, std::string reason) {
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
