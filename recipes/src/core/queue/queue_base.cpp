// The public operations that all queues share.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zkrecipes/queue_base.hpp>
#include <zkrecipes/transaction.hpp>

#include "line/line_spec.hpp"
#include "queue/capacity.hpp"
#include "queue/dead_letter_folder.hpp"
#include "queue/queue_core.hpp"
#include "queue/queue_layout.hpp"
#include "session/operation.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

// Operators ask how a queue stands, and put dead letters and parked keys back. No query writes.

/// Puts the dead letters of a parked key back into their queue, in order.
///
/// Writes the mark of the key first. From then on no consumer parks or processes messages of the key: what it has of
/// them waits until the mark is removed. So the letters can be put back in several transactions, each under the name
/// that the message had. If this ends in between, the next revival of the key goes on from there.
class key_revival {
 public:
  key_revival(shared_frame frame, std::string mark);

  /// Completes with the number of messages that were put back.
  awaitable<outcome<std::size_t>> run();

 private:
  awaitable<error_code> hold();
  awaitable<error_code> check_mark();
  awaitable<error_code> check_queue(std::size_t more);
  awaitable<outcome<std::vector<std::string>>> list();
  awaitable<error_code> put_back(const std::vector<std::string>& names);
  awaitable<error_code> commit(transaction all, std::vector<std::string> moved);
  awaitable<error_code> release();

  shared_frame frame_;
  std::string name_;    // of the mark
  std::string path_;    // of the mark
  std::string folder_;  // of the dead letters
  backend::reply mark_;
  std::string parking_;  // the node below the mark: each parking of the key has another one
  std::set<std::string> unreadable_;
  std::size_t at_once_;  // letters that are read together
  std::size_t count_ = 0;
  std::vector<std::string> unknown_;  // names of letters whose transaction may have been done
};

using backend::opcode;

namespace {

using name_list = std::vector<std::string>;

constexpr std::size_t most_letters = 100;  // read together; of up to a megabyte each
constexpr std::size_t most_bytes = 256 * 1024;
constexpr std::size_t bytes_of_operations = 300;  // of the two for a letter, besides names and data

}  // namespace

key_revival::key_revival(shared_frame frame, std::string mark)
    : frame_(std::move(frame)),
      name_(std::move(mark)),
      path_(join(frame_->where.on_side(parked_folder), name_)),
      folder_(frame_->where.on_side(dead_folder)),
      at_once_(most_letters) {}

awaitable<outcome<std::size_t>> key_revival::run() {
  auto error = co_await hold();
  while (!error) {
    auto listed = co_await list();
    const auto& [failure, names] = listed;
    error = failure;
    if (!error && names.empty()) co_return outcome<std::size_t>(co_await release(), count_);
    if (!error) error = co_await put_back(names);
  }
  co_return outcome<std::size_t>(error, count_);
}

/// Reads the mark. `no_node`: the key is not parked, or was parked anew. The node below the mark tells that; it is read
/// first, so that it never belongs to a later parking than the mark.
awaitable<error_code> key_revival::check_mark() {
  std::vector<backend::request> look;
  look.push_back(make_request(opcode::children, path_));
  look.push_back(make_request(opcode::get, path_));
  auto seen = co_await frame_->session->perform_all(std::move(look));
  for (const auto& each : seen) {
    if (each.error) co_return each.error;
  }
  const auto& below = seen[0].children;
  const auto parking = below.empty() ? path_ : join(path_, below.front());  // none: the mark was made by hand
  if (parking_.empty()) parking_ = parking;
  mark_ = std::move(seen[1]);
  co_return parking == parking_ ? error_code() : make_error_code(errc::no_node);
}

/// Changes the mark, unless a revival that was interrupted has done so.
awaitable<error_code> key_revival::hold() {
  for (;;) {
    auto error = co_await check_mark();
    if (error) co_return error;
    auto listed = co_await list();
    const auto& [failure, names] = listed;
    error = failure;
    if (!error && !names.empty()) error = co_await check_queue(names.size());
    if (error || mark_.stat.version != mark_of_parking) co_return error;
    const auto change = transaction().check(parking_).set(path_, mark_.data, mark_of_parking);
    auto changed = co_await frame_->session->perform(backend::make_multi(change), retry::once);
    const bool is_open = may_have_happened(changed.error) || is_write_conflict(changed.error);
    if (!is_open) co_return changed.error;
  }
}

/// In a queue that was removed and made again the numbers of the names begin anew: an item under an old name would
/// stand in the way of the one that gets its number.
awaitable<error_code> key_revival::check_queue(std::size_t more) {
  const auto& options = frame_->options;
  auto there = co_await frame_->session->perform(make_request(opcode::children, frame_->where.items), retry::always);
  if (there.error && there.error != errc::no_node) co_return there.error;
  if (there.error || there.stat.czxid > mark_.stat.czxid) co_return errc::node_exists;
  // An interrupted revival may have put letters back already: then the limits are not asked again.
  const bool is_held = mark_.stat.version != mark_of_parking;
  const auto items = frame_->where.items_of(there.children).size();
  const bool is_over_limit = options.limit != 0 && items + more > options.limit;
  const auto bytes = list_bytes(frame_->where, there.children.size() + more);
  const bool is_overlong = options.max_list_bytes != 0 && bytes > options.max_list_bytes;
  co_return !is_held && (is_over_limit || is_overlong) ? make_error_code(errc::full) : error_code();
}

/// The names of the letters of the key, in order.
awaitable<outcome<name_list>> key_revival::list() {
  auto listed = co_await frame_->session->perform(make_request(opcode::children, folder_), retry::always);
  if (listed.error == errc::no_node) listed.error.clear();
  const auto begin = letters_of(name_);
  const std::string_view markers[] = {begin};
  name_list names;
  for (auto& each : members_of(listed.children, markers)) {
    if (!unreadable_.contains(each.name)) names.push_back(std::move(each.name));
  }
  // The letters of a transaction whose reply was lost have gone together, or not at all.
  const bool is_done = !listed.error && !unknown_.empty() && std::ranges::find(names, unknown_.front()) == names.end();
  if (is_done) count_ += unknown_.size();
  if (!listed.error) unknown_.clear();
  co_return outcome<name_list>(listed.error, std::move(names));
}

/// Puts the first letters back, in one transaction. Without an error the list of the letters is out of date.
awaitable<error_code> key_revival::put_back(const name_list& names) {
  std::vector<backend::request> asked;
  for (std::size_t i = 0; i < std::min(names.size(), at_once_); ++i) {
    asked.push_back(make_request(opcode::get, join(folder_, names[i])));
  }
  auto nodes = co_await frame_->session->perform_all(std::move(asked));
  transaction all;
  all.check(parking_);
  name_list moved;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].error == errc::no_node) continue;  // discarded meanwhile
    if (nodes[i].error) co_return nodes[i].error;
    const auto letter = read_letter(nodes[i].data);
    if (!letter || !frame_->where.parse(letter->item)) {
      unreadable_.insert(names[i]);
      continue;
    }
    const auto paths = 2 * frame_->session->root().size() + folder_.size() + names[i].size() + letter->item.size();
    bytes += letter->data.size() + paths + frame_->where.items.size() + bytes_of_operations;
    const auto most = std::min<std::size_t>(most_bytes, frame_->session->options().jute_maxbuffer / 2);
    if (!moved.empty() && bytes > most) break;
    all.remove(join(folder_, names[i])).create(frame_->where.item(letter->item), letter->data);
    moved.push_back(names[i]);
  }
  at_once_ = std::clamp<std::size_t>(2 * moved.size(), 1, most_letters);  // few that are large, or many small ones
  if (moved.empty()) co_return error_code();
  co_return co_await commit(std::move(all), std::move(moved));
}

awaitable<error_code> key_revival::commit(transaction all, name_list moved) {
  const auto& session = frame_->session;
  auto result = co_await session->perform(backend::make_multi(all), retry::once);
  if (!result.error) count_ += moved.size();
  if (may_have_happened(result.error)) {
    if (result.sent) unknown_ = std::move(moved);
    co_return error_code();
  }
  const auto place = failed_at(result);
  const bool is_mark = place == 0 && is_write_conflict(result.error);
  if (is_mark) co_return co_await hold();  // somebody has written it; or another client has put the rest back
  const bool is_letter = result.error == errc::no_node && place % 2 == 1;
  co_return is_letter ? error_code() : result.error;  // discarded meanwhile, or put back by another client
}

/// From here on the consumer goes on with the key.
awaitable<error_code> key_revival::release() {
  transaction all;
  if (parking_ != path_) all.remove(parking_);
  all.remove(path_);
  for (;;) {
    auto removed = co_await frame_->session->perform(backend::make_multi(all), retry::once);
    const bool is_gone = removed.error == errc::no_node;
    if (!may_have_happened(removed.error)) co_return is_gone ? error_code() : removed.error;
    auto error = co_await check_mark();
    if (error) co_return error == errc::no_node ? error_code() : error;
  }
}

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

/// The age of the first item is by the leader's clock if `clock` knows it by now, else by our own.
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

/// Puts the item and removes the letter, with the same limit as other puts.
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

namespace zkrecipes {

using namespace detail;

queue_base::queue_base(session over, core_ptr core) : session_(std::move(over)), core_(std::move(core)) {}

const std::string& queue_base::path() const noexcept { return core_ ? core_->frame()->where.items : no_path(); }

const queue_options& queue_base::options() const noexcept {
  static const queue_options defaults;
  return core_ ? core_->frame()->options : defaults;
}

}  // namespace zkrecipes

namespace zkrecipes::detail {

void queue_operations::take(handler<message> h, core_ptr core, lease_clock::duration budget) {
  launch_within(budget, std::move(h), std::move(core), &queue_core::take);
}

void queue_operations::take_many(handler<std::vector<message>> h, core_ptr core, std::size_t most,
                                 lease_clock::duration budget) {
  launch_within(budget, std::move(h), std::move(core), &queue_core::take_many, most);
}

void queue_operations::pop(handler<message> h, core_ptr core, lease_clock::duration budget) {
  launch_within(budget, std::move(h), std::move(core), &queue_core::pop);
}

void queue_operations::acknowledge(handler<> h, core_ptr core, message item, transaction effects) {
  launch(std::move(h), std::move(core), &queue_core::acknowledge, std::move(item), std::move(effects));
}

void queue_operations::give_back(handler<> h, core_ptr core, message item, return_to where, std::string reason) {
  launch(std::move(h), std::move(core), &queue_core::give_back, std::move(item), where, std::move(reason));
}

void queue_operations::reject(handler<> h, core_ptr core, message item, std::string reason) {
  launch(std::move(h), std::move(core), &queue_core::reject, std::move(item), std::move(reason));
}

void queue_operations::size(handler<std::size_t> h, core_ptr core) {
  launch(*core->get_scheduler(), std::move(h), count_items(core->frame()));
}

void queue_operations::status(handler<queue_status> h, core_ptr core) {
  launch(*core->get_scheduler(), std::move(h), read_status(core->frame(), core->clock()));
}

void queue_operations::dead_letters(handler<std::vector<dead_letter>> h, core_ptr core) {
  const auto& frame = *core->frame();
  launch(*core->get_scheduler(), std::move(h), read_letters(frame.session, frame.where.on_side(dead_folder)));
}

void queue_operations::revive(handler<> h, core_ptr core, dead_letter which) {
  launch(*core->get_scheduler(), std::move(h), revive_letter(core->frame(), core->get_capacity(), std::move(which)));
}

void queue_operations::discard(handler<> h, core_ptr core, dead_letter which) {
  const auto& frame = *core->frame();
  auto discarding = discard_letter(frame.session, frame.where.on_side(dead_folder), std::move(which.name));
  launch(*core->get_scheduler(), std::move(h), std::move(discarding));
}

void queue_operations::parked_keys(handler<std::vector<parked_key>> h, core_ptr core) {
  launch(*core->get_scheduler(), std::move(h), read_parked_keys(core->frame()));
}

void queue_operations::revive_key(handler<std::size_t> h, core_ptr core, parked_key which) {
  launch(*core->get_scheduler(), std::move(h), detail::revive_key(core->frame(), std::move(which)));
}

}  // namespace zkrecipes::detail
