#include "cluster/letters.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/failure.hpp"
#include "base/tasks.hpp"
#include "base/text.hpp"
#include "cluster/collector.hpp"
#include "cluster/nodes.hpp"
#include "cluster/recognize.hpp"
#include "cluster/stored_record.hpp"
#include "line/line_spec.hpp"
#include "queue/queue_layout.hpp"
#include "shards/shard_name.hpp"
#include "source/source_core.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
namespace detail = zkrecipes::detail;
using zkrecipes::errc;
using zkrecipes::error_code;

using name_list = std::optional<std::vector<std::string>>;

constexpr std::size_t letters_at_a_time = 16;  // of up to a megabyte each

/// Throws `failure` if children are there, and none is of a queue, also not in the folder beside the path that a
/// priority queue has. A drained queue may have no children, so nothing is said of an empty node.
asio::awaitable<void> require_items(zkrecipes::session session, std::string path) {
  const auto names = co_await find_children(session, path);
  const auto is_of_queue = [](const auto& each) { return is_part_of(recipe::queue, each); };
  if (!names || names->empty() || std::any_of(names->begin(), names->end(), is_of_queue)) co_return;
  const auto beside = co_await find_stat(session, detail::queue_layout(detail::queue_kind::priority, path).side);
  if (!beside) throw failure(exit_code::error, printable(path) + " is no queue: no items and no letters are there");
}

/// Sources that are queues have one group.
constexpr const char* only_group = "consumers";

bool has_only_group(std::string_view data) {
  const auto kind = text_field(parse_stored(data), "zkrecipes");
  return kind == "rabbit_queues" || kind == "external_queue";
}

/// Looks what is at the path: a topic, a source outside, or what may be a queue.
asio::awaitable<letter_list> find_source(zkrecipes::session session, const letter_source& from) {
  letter_list found{from.path};
  auto reading = co_await session.async_get(from.path, as_result);
  const error_code error = std::get<0>(reading);
  if (error == errc::no_node) throw failure(exit_code::error, "there is no queue at " + printable(from.path));
  check(error, "reading " + from.path);
  const auto& node = std::get<1>(reading);
  const auto kind = recipe_of(node.data);
  found.is_outside = kind == recipe::stream;
  const bool is_topic = kind == recipe::topic || found.is_outside;
  if (!is_topic && kind != recipe::none)
    throw failure(exit_code::error,
                  printable(from.path) + " is no queue: it holds data of another recipe (" + to_string(kind) + ")");
  found.group = from.group.empty() && has_only_group(node.data) ? only_group : from.group;
  if (is_topic && found.group.empty())
    throw failure(exit_code::usage,
                  printable(from.path) + " is a " + to_string(kind) + ": name a group of its consumers by --group");
  if (from.group.find('/') != std::string::npos) throw failure(exit_code::usage, "--group: no name of a group");
  if (!is_topic && !from.group.empty())
    throw failure(exit_code::usage, "--group: " + printable(from.path) + " is no topic");
  found.items = static_cast<std::uint64_t>(node.stat.num_children);
  if (!is_topic) {
    co_await require_items(std::move(session), from.path);
    co_return found;
  }
  const auto count = integer_field(parse_stored(node.data), "count");
  if (count < 1 || count > detail::most_shards)
    throw failure(exit_code::error,
                  printable(from.path) + " is a " + to_string(kind) + " with an unknown number of shards");
  found.shards = static_cast<std::uint32_t>(count);
  co_return found;
}

/// The names in the folder of the letters. A priority queue has it beside its path.
asio::awaitable<std::vector<std::string>> list_folder(zkrecipes::session session, letter_list& into) {
  name_list names;
  if (!into.group.empty()) {
    into.folder = detail::source_layout{into.path}.dead(into.group);
    names = co_await find_children(session, into.folder);
    co_return std::move(names).value_or(std::vector<std::string>());
  }
  const detail::queue_layout plain(detail::queue_kind::fifo, into.path);
  const detail::queue_layout apart(detail::queue_kind::priority, into.path);
  into.folder = plain.on_side(detail::dead_folder);
  names = co_await find_children(session, into.folder);
  if (names && !names->empty()) co_return std::move(*names);
  const auto beside = apart.on_side(detail::dead_folder);
  names = co_await find_children(session, beside);
  if (!names) co_return std::vector<std::string>();
  into.folder = beside;
  into.is_apart = true;
  co_return std::move(*names);
}

/// The names of the letters, the oldest first.
std::vector<std::string> letters_among(const std::vector<std::string>& names) {
  constexpr std::string_view markers[] = {"letter-"};
  std::vector<std::string> all;
  for (auto& each : detail::members_of(names, markers)) all.push_back(std::move(each.name));
  return all;
}

/// Nothing: it has gone. A letter without an item is no letter.
asio::awaitable<std::optional<letter_status>> read_one(zkrecipes::session session, std::string path, std::string name) {
  auto reading = co_await session.async_get(path, as_result);
  const error_code error = std::get<0>(reading);
  if (error == errc::no_node) co_return std::nullopt;
  check(error, "reading " + path);
  const auto& node = std::get<1>(reading);
  letter_status made{detail::read_letter(node.data).value_or(zkrecipes::dead_letter()), node.stat.version,
                     node.stat.czxid};
  made.letter.name = std::move(name);
  made.letter.since = node.stat.ctime;
  co_return made;
}

void add_letters(letter_list& to, std::vector<std::optional<letter_status>> some, std::uint64_t& bytes) {
  for (auto& each : some) {
    if (each && each->letter.item.empty()) ++to.foreign;
    if (!each || each->letter.item.empty()) continue;
    bytes += letter_bytes(each->letter);
    to.letters.push_back(std::move(*each));
  }
}

asio::awaitable<void> read_oldest(zkrecipes::session session, letter_list& into, std::vector<std::string> names,
                                  deadline until) {
  std::uint64_t bytes = 0;
  std::size_t begin = 0;
  while (begin < names.size() && begin < most_letters && bytes < most_letter_bytes) {
    if (std::chrono::steady_clock::now() >= until) break;
    const auto count = std::min(letters_at_a_time, names.size() - begin);
    std::vector<std::optional<letter_status>> some(count);
    const auto read = [&, begin](std::size_t i) -> asio::awaitable<void> {
      auto one = co_await read_one(session, detail::join(into.folder, names[begin + i]), names[begin + i]);
      some[i] = std::move(one);
    };
    co_await for_each_index(count, letters_at_a_time, read);
    add_letters(into, std::move(some), bytes);
    begin += count;
  }
  into.not_read = names.size() - begin;
}

/// Tells which letters belong to keys that are parked.
asio::awaitable<void> read_parked(zkrecipes::session session, letter_list& of) {
  const auto has_mark = [](const letter_status& each) { return !detail::mark_of_letter(each.letter.name).empty(); };
  if (std::none_of(of.letters.begin(), of.letters.end(), has_mark)) co_return;
  const auto kind = of.is_apart ? detail::queue_kind::priority : detail::queue_kind::fifo;
  const auto marks =
      co_await find_children(session, detail::queue_layout(kind, of.path).on_side(detail::parked_folder));
  if (!marks) co_return;
  const std::set<std::string, std::less<>> parked(marks->begin(), marks->end());
  for (auto& each : of.letters) each.is_parked = parked.contains(detail::mark_of_letter(each.letter.name));
}

}  // namespace

std::uint64_t letter_bytes(const zkrecipes::dead_letter& letter) noexcept {
  return letter.item.size() + letter.reason.size() + letter.key.size() + letter.data.size();
}

asio::awaitable<letter_list> read_dead_letters(zkrecipes::session session, letter_source from, deadline until) {
  auto found = co_await find_source(session, from);
  const auto listed = co_await list_folder(session, found);
  auto names = letters_among(listed);
  if (!from.only.empty()) {
    const bool is_there = std::find(names.begin(), names.end(), from.only) != names.end();
    if (!is_there)
      throw failure(exit_code::error, "there is no letter " + printable(from.only) + " in " + printable(found.folder));
    names = {from.only};
  }
  co_await read_oldest(session, found, std::move(names), until);
  co_await read_parked(session, found);
  co_return found;
}

}  // namespace zkadmin
