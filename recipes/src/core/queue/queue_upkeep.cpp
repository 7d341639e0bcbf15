#include "queue/queue_upkeep.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "queue/dead_letter_folder.hpp"
#include "queue/key_mark.hpp"
#include "queue/key_revival.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

using key_list = std::vector<parked_key>;

constexpr std::size_t marks_at_once = 100;

std::map<std::string_view, std::size_t> count_letters(const std::vector<std::string>& letters) {
  std::map<std::string_view, std::size_t> counts;
  for (const auto& each : letters) ++counts[mark_of_letter(each)];
  return counts;
}

/// A missing folder is no failure, because it counts as empty.
bool is_failure(const backend::reply& listed) { return listed.error && listed.error != errc::no_node; }

/// In milliseconds since 1970.
std::int64_t own_time(const core& session) {
  const auto present = session.get_scheduler()->world->wall_clock().time_since_epoch();
  return std::chrono::floor<std::chrono::milliseconds>(present).count();
}

/// A letter of a parked key is put back with the others of its key only, because they have an order.
awaitable<error_code> check_key_of(const queue_frame& of, const std::string& letter) {
  const auto mark = mark_of_letter(letter);
  if (mark.empty()) co_return error_code();
  const auto path = join(of.where.on_side(parked_folder), mark);
  auto there = co_await of.session->perform(make_request(opcode::exists, path), retry::always);
  if (there.error == errc::no_node) co_return error_code();
  co_return there.error ? there.error : make_error_code(errc::bad_arguments);
}

}  // namespace

awaitable<outcome<std::size_t>> count_items(shared_frame of) {
  auto listed = co_await of->session->perform(make_request(opcode::children, of->where.items), retry::always);
  co_return outcome<std::size_t>(listed.error, of->where.items_of(listed.children).size());
}

awaitable<outcome<queue_status>> read_status(shared_frame of, std::shared_ptr<const server_clock> clock) {
  const auto& session = of->session;
  const auto& where = of->where;
  queue_status seen;
  auto listed = co_await session->perform(make_request(opcode::children, where.items), retry::always);
  if (listed.error) co_return outcome<queue_status>(listed.error, seen);
  const auto items = where.items_of(listed.children);
  seen.items = items.size();
  seen.list_bytes = list_bytes(where, listed.children.size());
  auto side = listed;
  if (where.is_apart()) side = co_await session->perform(make_request(opcode::children, where.side), retry::always);
  if (is_failure(side)) co_return outcome<queue_status>(side.error, seen);
  for (const auto& name : side.children) seen.claimed += name.starts_with(claim_prefix) ? 1 : 0;
  for (const auto& name : listed.children) seen.foreign += where.parse(name) || where.is_known(name) ? 0 : 1;
  auto dead = co_await session->perform(make_request(opcode::children, where.on_side(dead_folder)), retry::always);
  if (is_failure(dead)) co_return outcome<queue_status>(dead.error, seen);
  seen.dead = dead.children.size();
  for (const auto& each : items) {
    auto first = co_await session->perform(make_request(opcode::exists, where.item(each.name)), retry::always);
    if (first.error == errc::no_node) continue;  // taken meanwhile
    if (first.error) co_return outcome<queue_status>(first.error, seen);
    const auto present = clock->is_known() ? clock->earliest() : own_time(*session);
    seen.oldest = std::chrono::milliseconds(std::max<std::int64_t>(0, present - first.stat.ctime));
    break;
  }
  co_return outcome<queue_status>(error_code(), seen);
}

/// Both are one transaction, so after a lost reply a letter that is still there proves that nothing was done.
awaitable<outcome<>> revive_letter(shared_frame of, std::shared_ptr<capacity> limits, dead_letter which) {
  const auto& session = of->session;
  const auto path = of->where.on_side(std::string(dead_folder)) + '/' + which.name;
  const auto revival = revival_of(of->where, which);
  if (!revival) co_return outcome<>(errc::bad_arguments);
  auto refusal = co_await check_key_of(*of, which.name);
  if (refusal) co_return outcome<>(refusal);
  for (;;) {
    std::size_t one = 1;
    auto entered = co_await limits->enter(one, true);
    auto& [error, pass] = entered;
    if (error) co_return outcome<>(error);
    auto all = *revival;
    limits->guard(all);
    auto result = co_await session->perform(backend::make_multi(all), retry::once);
    error = co_await limits->settle(result);
    const bool is_maybe_done = error == errc::outcome_unknown;
    if (is_maybe_done) error = co_await check_letter(session, path);
    if (error == errc::no_node && failed_at(result) > 0) {  // an operator removed the queue or our ticket
      error = co_await session->ensure_path(of->where.items);
      if (!error) continue;
    }
    const bool is_undone = error == errc::connection_loss || (is_maybe_done && !error);
    if (!is_undone) co_return outcome<>(error);
  }
}

awaitable<outcome<key_list>> read_parked_keys(shared_frame of) {
  const auto folder = of->where.on_side(parked_folder);
  std::vector<backend::request> lists;
  lists.push_back(make_request(opcode::children, folder));
  lists.push_back(make_request(opcode::children, of->where.on_side(dead_folder)));
  const auto listed = co_await of->session->perform_all(std::move(lists));
  key_list found;
  for (const auto& each : listed) {
    if (each.error && each.error != errc::no_node) co_return outcome<key_list>(each.error, std::move(found));
  }
  auto marks = listed[0].children;
  std::erase_if(marks, [](const std::string& each) { return !is_mark(each); });
  const auto letters = count_letters(listed[1].children);
  for (std::size_t from = 0; from < marks.size(); from += marks_at_once) {
    std::vector<backend::request> asked;
    for (auto i = from; i < std::min(marks.size(), from + marks_at_once); ++i) {
      asked.push_back(make_request(opcode::get, join(folder, marks[i])));
    }
    const auto nodes = co_await of->session->perform_all(std::move(asked));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto& node = nodes[i];
      if (node.error && node.error != errc::no_node) co_return outcome<key_list>(node.error, std::move(found));
      if (node.error) continue;  // revived meanwhile
      auto key = read_mark(node.data).value_or(std::string());
      const auto count = letters.find(marks[from + i]);
      found.push_back({marks[from + i], std::move(key), node.stat.ctime, count == letters.end() ? 0 : count->second});
    }
  }
  std::ranges::sort(found, {}, &parked_key::since);
  co_return outcome<key_list>(error_code(), std::move(found));
}

awaitable<outcome<std::size_t>> revive_key(shared_frame of, parked_key which) {
  if (!is_mark(which.name)) co_return outcome<std::size_t>(errc::bad_arguments, 0);
  const auto revival = std::make_unique<key_revival>(std::move(of), std::move(which.name));
  co_return co_await revival->run();
}

}  // namespace zkrecipes::detail
