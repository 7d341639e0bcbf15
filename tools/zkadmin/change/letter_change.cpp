#include "change/letter_change.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <zkrecipes/delay_queue.hpp>
#include <zkrecipes/priority_queue.hpp>
#include <zkrecipes/queue.hpp>

#include "base/failure.hpp"
#include "base/tasks.hpp"
#include "base/text.hpp"
#include "change/intervention.hpp"
#include "cluster/collector.hpp"
#include "cluster/letters.hpp"
#include "cluster/recognize.hpp"
#include "queue/capacity.hpp"
#include "queue/dead_letter_folder.hpp"
#include "queue/queue_layout.hpp"
#include "topic/topic_layout.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
namespace detail = zkrecipes::detail;
using zkrecipes::errc;

constexpr std::size_t most_letters_in_step = 50;
constexpr std::size_t most_bytes_in_step = 256 * 1024;

/// The kinds of queues that may have their letters in this folder.
std::vector<detail::queue_layout> layouts_of(const letter_list& from) {
  if (from.is_apart) return {{detail::queue_kind::priority, from.path}};
  return {{detail::queue_kind::fifo, from.path}, {detail::queue_kind::delayed, from.path}};
}

/// The same transaction as that of the library. Nothing: the item is none of this queue.
std::optional<zkrecipes::transaction> put_back_of(const letter_list& from, const letter_status& each) {
  if (!from.group.empty())
    return detail::revival_of(detail::source_layout{from.path}, from.shards, from.group, each.letter, each.version);
  for (const auto& where : layouts_of(from)) {
    auto revival = detail::revival_of(where, each.letter, each.version);
    if (revival) return revival;
  }
  return std::nullopt;
}

zkrecipes::transaction with_access(zkrecipes::transaction requests, const zkrecipes::acl& access) {
  zkrecipes::transaction made;
  for (auto& each : std::move(requests).operations()) {
    if (each.type == zkrecipes::operation::kind::create && each.acl.empty()) each.acl = access;
    made.add(std::move(each));
  }
  return made;
}

zkrecipes::transaction discard_of(const letter_list& from, const letter_status& each) {
  return zkrecipes::transaction().remove(detail::join(from.folder, each.letter.name), each.version);
}

std::size_t bytes_of(const zkrecipes::transaction& requests) {
  std::size_t bytes = 0;
  for (const auto& each : requests.operations()) bytes += each.path.size() + each.data.size();
  return bytes;
}

/// Makes steps that are neither long nor large.
class step_maker {
 public:
  void add(zkrecipes::transaction requests, seen_node letter) {
    const auto more = bytes_of(requests);
    const bool is_full =
        !steps_.empty() && (steps_.back().letters == most_letters_in_step || bytes_ + more > most_bytes_in_step);
    if (steps_.empty() || is_full) {
      steps_.emplace_back();
      bytes_ = 0;
    }
    steps_.back().requests.append(std::move(requests));
    ++steps_.back().letters;
    steps_.back().same.push_back(std::move(letter));
    bytes_ += more;
  }
  std::vector<letter_plan::step> take() { return std::move(steps_); }

 private:
  std::vector<letter_plan::step> steps_;
  std::size_t bytes_ = 0;
};

/// A list of names that is longer can not be read by Java clients, and the library refuses further puts.
void require_room(const letter_list& from, std::size_t more) {
  if (!from.group.empty() || more == 0) return;
  const auto most = zkrecipes::queue_options().max_list_bytes;
  if (detail::list_bytes(layouts_of(from).back(), static_cast<std::size_t>(from.items) + more) > most)
    throw failure(exit_code::error,
                  printable(from.path) + " has no room for " + std::to_string(more) + " more items: nothing was sent");
}

}  // namespace

letter_plan plan_letters(const letter_list& from, letter_fate fate) {
  if (from.is_outside && fate == letter_fate::revive)
    throw failure(exit_code::error, printable(from.path) +
                                        " has its messages outside of ZooKeeper, so zkadmin can not put any there: "
                                        "nothing was sent");
  letter_plan plan;
  step_maker steps;
  for (const auto& each : from.letters) {
    auto requests = fate == letter_fate::discard ? std::optional(discard_of(from, each)) : put_back_of(from, each);
    const bool is_held = fate == letter_fate::revive && each.is_parked;
    plan.parked += is_held ? 1 : 0;
    plan.strange += !is_held && !requests ? 1 : 0;
    if (is_held || !requests) continue;
    steps.add(with_access(std::move(*requests), from.access),
              {detail::join(from.folder, each.letter.name), each.czxid});
    ++plan.letters;
  }
  if (fate == letter_fate::revive) require_room(from, plan.letters);
  plan.steps = steps.take();
  return plan;
}

std::string to_text(const letter_plan& plan, std::size_t most_steps) {
  std::string text;
  const auto count = plan.steps.size();
  for (std::size_t i = 0; i < std::min(count, most_steps); ++i) {
    if (count > 1) text += "transaction " + std::to_string(i + 1) + " of " + std::to_string(count) + "\n";
    text += to_text(plan.steps[i].requests);
  }
  if (count > most_steps) {
    const auto more = count - most_steps;
    text += "... and " + std::to_string(more) + (more == 1 ? " more transaction\n" : " more transactions\n");
  }
  return text;
}

asio::awaitable<void> send_letters(zkrecipes::session session, letter_plan plan, letter_result& result) {
  for (auto& each : plan.steps) {
    const auto identity = co_await look_again(session, std::move(each.same));
    result.is_changed = identity != node_identity::same;
    if (result.is_changed) co_return;
    auto outcome = co_await session.async_commit(std::move(each.requests), as_result);
    const zkrecipes::error_code error = std::get<0>(outcome);
    result.is_changed = error == errc::no_node || error == errc::bad_version;
    if (result.is_changed) co_return;
    check(error, "sending the requests");
    result.done += each.letters;
  }
}

namespace {

namespace asio = boost::asio;
namespace detail = zkrecipes::detail;
using zkrecipes::errc;
using zkrecipes::error_code;
using zkrecipes::parked_key;
using kind_of_queue = key_to_revive::queue_kind;

constexpr std::size_t most_keys_named = 10;

using key_listing = std::tuple<error_code, std::vector<parked_key>>;
using revival = std::tuple<error_code, std::size_t>;

template <class Queue>
asio::awaitable<key_listing> list_keys(zkrecipes::session over, std::string path) {
  Queue queue(over, path);
  key_listing listed = co_await queue.async_parked_keys(as_result);
  co_return listed;
}

template <class Queue>
asio::awaitable<revival> revive(zkrecipes::session over, std::string path, std::string mark) {
  Queue queue(over, path);
  parked_key which;
  which.name = std::move(mark);
  revival done = co_await queue.async_revive_key(which, as_result);
  co_return done;
}

asio::awaitable<revival> revive(zkrecipes::session over, std::string path, const key_to_revive& what) {
  switch (what.kind) {
    case kind_of_queue::priority: return revive<zkrecipes::priority_queue>(over, path, what.mark);
    case kind_of_queue::delayed: return revive<zkrecipes::delay_queue>(over, path, what.mark);
    case kind_of_queue::fifo: break;
  }
  return revive<zkrecipes::queue>(over, path, what.mark);
}

detail::queue_layout layout_of(const std::string& path, kind_of_queue which) {
  return {which == kind_of_queue::priority ? detail::queue_kind::priority : detail::queue_kind::fifo, path};
}

asio::awaitable<zkrecipes::node_stat> require_queue(zkrecipes::session session, std::string path) {
  auto reading = co_await session.async_get(path, as_result);
  const error_code error = std::get<0>(reading);
  if (error == errc::no_node) throw nothing_was_sent("there is no queue at " + path);
  check(error, "reading " + path);
  const auto& node = std::get<1>(reading);
  if (recipe_of(node.data) != recipe::none)
    throw nothing_was_sent(path + " is no queue: it holds data of another recipe");
  co_return node.stat;
}

/// The marks of a priority queue are beside its path.
asio::awaitable<std::vector<parked_key>> find_keys(zkrecipes::session session, std::string path, kind_of_queue& which) {
  which = kind_of_queue::fifo;
  auto listed = co_await list_keys<zkrecipes::queue>(session, path);
  if (!std::get<0>(listed) && std::get<1>(listed).empty()) {
    which = kind_of_queue::priority;
    listed = co_await list_keys<zkrecipes::priority_queue>(session, path);
  }
  check(std::get<0>(listed), "reading the parked keys of " + path);
  co_return std::move(std::get<1>(listed));
}

std::string names_of(const std::vector<parked_key>& keys, bool by_mark) {
  std::string text;
  for (std::size_t i = 0; i < std::min(keys.size(), most_keys_named); ++i)
    append_to_list(text, by_mark ? keys[i].name : keys[i].key);
  return keys.size() > most_keys_named ? text + ", ..." : or_dash(text);
}

/// Keys are shown in part, so two of them may look alike.
parked_key pick_key(const std::vector<parked_key>& keys, const std::string& path, const std::string& wanted) {
  std::vector<parked_key> same;
  for (const auto& each : keys)
    if (each.name == wanted || each.key == wanted) same.push_back(each);
  if (same.empty())
    throw nothing_was_sent("no key " + wanted + " of " + path + " is parked; those that are: " + names_of(keys, false));
  if (same.size() > 1)
    throw nothing_was_sent("several parked keys of " + path +
                           " look like that, name its mark: " + names_of(same, true));
  return same.front();
}

/// A delay queue has its marks where a FIFO queue has them, and other names of items.
asio::awaitable<kind_of_queue> find_kind(zkrecipes::session session, std::string path, std::string mark) {
  const letter_source from{std::move(path)};
  const auto all = co_await read_dead_letters(std::move(session), from, deadline::max());
  const detail::queue_layout delayed(detail::queue_kind::delayed, all.path);
  const auto is_delayed = [&](const letter_status& each) {
    return detail::mark_of_letter(each.letter.name) == mark && delayed.parse(each.letter.item).has_value();
  };
  co_return std::any_of(all.letters.begin(), all.letters.end(), is_delayed) ? kind_of_queue::delayed
                                                                            : kind_of_queue::fifo;
}

/// As the library does, which looks no more once the key is held.
void require_places(const std::string& path, const zkrecipes::node_stat& queue, const zkrecipes::node_stat& mark,
                    const detail::queue_layout& where, std::size_t more) {
  if (more == 0 || mark.version != detail::mark_of_parking) return;  // else a part may be back already
  if (queue.czxid > mark.czxid)
    throw nothing_was_sent(path +
                           " was removed since the key was parked, so its letters can not get their places back");
  const auto length = static_cast<std::size_t>(queue.num_children) + more;
  if (detail::list_bytes(where, length) > zkrecipes::queue_options().max_list_bytes)
    throw nothing_was_sent(path + " has no room for " + std::to_string(more) + " more items");
}

/// What stands for the parking of a key.
struct parking {
  std::string mark{};   ///< The path of the mark.
  std::string below{};  ///< That of the node below it, which another parking of the key has not; empty: there is none.
  zkrecipes::node_data node{};
};

asio::awaitable<parking> read_parking(zkrecipes::session session, std::string mark) {
  auto below = co_await session.async_children(mark, as_result);
  auto reading = co_await session.async_get(mark, as_result);
  for (const auto& error : {std::get<0>(below), std::get<0>(reading)})
    if (error == errc::no_node) throw nothing_was_sent("another has just revived the key");
  check(std::get<0>(below), "reading " + mark);
  check(std::get<0>(reading), "reading " + mark);
  const auto& names = std::get<1>(below).names;
  parking found{std::move(mark)};
  if (!names.empty()) found.below = detail::join(found.mark, names.front());
  found.node = std::move(std::get<1>(reading));
  co_return found;
}

/// A write of the mark, as the library's, with the check that it still stands for the same parking.
zkrecipes::transaction holding(const parking& found) {
  zkrecipes::transaction requests;
  if (!found.below.empty()) requests.check(found.below);
  requests.set(found.mark, found.node.data, found.node.stat.version);
  return requests;
}

/// Tells that the key is held until it is completed.
failure not_completed(const std::string& path, const error_code& error) {
  const std::string again = "; its consumer leaves the key alone until this command has completed";
  if (error == errc::node_exists)
    return failure(
        exit_code::error,
        path + " was removed since the key was parked, so the letters can not get their places back" + again);
  return failure(error == errc::no_auth ? exit_code::auth : exit_code::error,
                 "putting the letters back: " + error.message() + again);
}

}  // namespace

asio::awaitable<intervention> prepare_key_revival(zkrecipes::session session, std::string path, std::string key,
                                                  std::shared_ptr<key_to_revive> into) {
  const auto queue = co_await require_queue(session, path);
  const auto keys = co_await find_keys(session, path, into->kind);
  const auto chosen = pick_key(keys, path, key);
  into->mark = chosen.name;
  if (into->kind == kind_of_queue::fifo) into->kind = co_await find_kind(session, path, chosen.name);
  into->access = co_await inherited_acl(session, path);
  const auto where = layout_of(path, into->kind);
  const auto found = co_await read_parking(session, detail::join(where.on_side(detail::parked_folder), chosen.name));
  require_places(path, queue, found.node.stat, where, chosen.letters);
  intervention change;
  change.requests = holding(found);
  change.because = "then puts " + counted(chosen.letters, "message") + " back in order, and removes the mark";
  change.done = "holds the key, with " + counted(chosen.letters, "message");
  change.if_gone = "another has just revived the key: nothing was done";
  change.if_changed = "another is just reviving the key: nothing was done";
  co_return change;
}

asio::awaitable<void> revive_key(zkrecipes::session session, settings wanted, std::string path,
                                 std::shared_ptr<key_to_revive> what, std::string& told) {
  told = "the key of " + path + " is held and not revived yet (run this again, with a longer --timeout)";
  const bool is_open = what->access.empty();
  if (!is_open) {  // a session has one ACL for all that it makes
    auto options = to_session_options(wanted, wanted.servers);
    options.default_acl = what->access;
    const auto executor = co_await asio::this_coro::executor;
    session = zkrecipes::session(executor, std::move(options));
  }
  const auto revived = co_await revive(session, path, *what);
  if (!is_open) co_await session.async_close(as_result);
  const error_code error = std::get<0>(revived);
  if (error == errc::no_node) throw failure(exit_code::error, "another has revived the key meanwhile");
  if (error) throw not_completed(path, error);
  told = "revived: " + counted(std::get<1>(revived), "message") + " back in " + path;
}

}  // namespace zkadmin
