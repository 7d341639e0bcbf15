// The operations on dead letters.
#include <algorithm>
#include <utility>

#include "line/node_name.hpp"
#include "queue/dead_letter.hpp"
#include "queue/key_mark.hpp"
#include "queue/queue_core.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

constexpr std::size_t letters_at_once = 100;  // of up to a megabyte each

}  // namespace

awaitable<outcome<std::vector<dead_letter>>> queue_core::dead_letters() {
  using result_type = outcome<std::vector<dead_letter>>;
  const auto& session = frame_->session;
  const auto folder = frame_->where.on_side(dead_folder);
  const std::string_view markers[] = {"letter-"};
  std::vector<dead_letter> found;
  auto listed = co_await session->perform(make_request(opcode::children, folder), retry::always);
  if (listed.error == errc::no_node) listed.error.clear();
  auto letters = members_of(listed.children, markers);
  for (std::size_t from = 0; from < letters.size(); from += letters_at_once) {
    std::vector<backend::request> asked;
    for (auto i = from; i < std::min(letters.size(), from + letters_at_once); ++i) {
      asked.push_back(make_request(opcode::get, join(folder, letters[i].name)));
    }
    auto nodes = co_await session->perform_all(std::move(asked));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto& node = nodes[i];
      if (node.error && node.error != errc::no_node) co_return result_type(node.error, std::move(found));
      auto letter = read_letter(node.data);
      if (node.error || !letter) continue;  // revived or discarded meanwhile, or not a dead letter
      letter->name = std::move(letters[from + i].name);
      letter->since = node.stat.ctime;
      found.push_back(std::move(*letter));
    }
  }
  co_return result_type(listed.error, std::move(found));
}

/// Puts the item and removes the letter in one transaction, with the same limit as other puts. So after a lost reply a
/// letter that is still there proves that nothing was done.
awaitable<outcome<>> queue_core::revive(dead_letter which) {
  const auto& session = frame_->session;
  const auto path = frame_->where.on_side(std::string(dead_folder)) + '/' + which.name;
  auto what = frame_->where.parse(which.item);
  if (!what || which.name.find('/') != which.name.npos) co_return outcome<>(errc::bad_arguments);
  auto refusal = co_await see_key_of(which.name);
  if (refusal) co_return outcome<>(refusal);
  for (;;) {
    std::size_t one = 1;
    auto entered = co_await capacity_->enter(one, true);
    auto& [error, pass] = entered;
    if (error) co_return outcome<>(error);
    transaction all;
    all.remove(path).create(frame_->where.item(frame_->where.marker(what->rank)), which.data,
                            create_mode::persistent_sequential);
    capacity_->guard(all);
    auto result = co_await session->perform(backend::make_multi(all), retry::once);
    error = co_await capacity_->settle(result);
    const bool is_maybe_done = error == errc::outcome_unknown;
    if (is_maybe_done) {
      auto there = co_await session->perform(make_request(opcode::exists, path), retry::always);
      // The letter has gone: we removed it, or another client revived or discarded it at that moment.
      error = there.error == errc::no_node ? make_error_code(errc::outcome_unknown) : there.error;
    }
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
  if (which.name.find('/') != which.name.npos) co_return outcome<>(errc::bad_arguments);
  const auto path = frame_->where.on_side(std::string(dead_folder)) + '/' + which.name;
  auto remove = make_request(opcode::remove, path);
  for (bool maybe_done = false;;) {
    auto result = co_await frame_->session->perform(remove, retry::once);
    if (result.error == errc::connection_loss) {
      maybe_done = maybe_done || result.sent;
      continue;
    }
    if (result.error == errc::no_node && maybe_done) result.error = errc::outcome_unknown;
    co_return outcome<>(result.error);
  }
}

}  // namespace zkrecipes::detail
