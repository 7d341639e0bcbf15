#include "cluster/queue.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/tasks.hpp"
#include "base/text.hpp"
#include "cluster/collector.hpp"
#include "cluster/line_status.hpp"
#include "cluster/nodes.hpp"
#include "cluster/recognize.hpp"
#include "queue/queue_layout.hpp"

namespace zkadmin {
namespace {

constexpr std::size_t sequence_digits = 10;
constexpr std::size_t time_digits = 16;

bool is_number(std::string_view text, std::size_t digits) noexcept {
  return text.size() == digits && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::int64_t to_number(std::string_view digits) noexcept {
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

/// An item by its name: what stands before the sequence number, and that number. The server counts it for all children
/// of the queue together, so it tells the order of arrival also among priorities.
struct item_name {
  std::string_view kind;  ///< "qn-", "entry-PPP-", "at-TIME-"; empty: this is no item.
  std::int64_t number = 0;

  std::optional<std::int64_t> due_ms() const noexcept {
    constexpr std::string_view begin = "at-";
    if (!kind.starts_with(begin)) return std::nullopt;
    return to_number(kind.substr(begin.size(), time_digits));
  }
};

bool is_kind_of_item(std::string_view kind) noexcept {
  if (kind == "qn-" || kind == "queue-") return true;
  constexpr std::string_view priority = "entry-", delay = "at-";
  if (!kind.ends_with('-')) return false;
  const auto middle = [kind](std::string_view begin) {
    return kind.substr(begin.size(), kind.size() - begin.size() - 1);
  };
  if (kind.starts_with(priority)) return is_number(middle(priority), 3);
  return kind.starts_with(delay) && is_number(middle(delay), time_digits);
}

item_name parse_item(std::string_view name) noexcept {
  if (name.size() <= sequence_digits) return {};
  const auto number = name.substr(name.size() - sequence_digits);
  const auto kind = name.substr(0, name.size() - sequence_digits);
  if (!is_number(number, sequence_digits) || !is_kind_of_item(kind)) return {};
  return {kind, to_number(number)};
}

/// The order in which items of this kind are taken.
const char* order_of(std::string_view kind) noexcept {
  if (kind.starts_with("entry-")) return "priority";
  return kind.starts_with("at-") ? "delay" : "FIFO";
}

constexpr std::size_t most_claims = 1'000;

void keep_first_claims(std::vector<std::string>& claims) {
  std::sort(claims.begin(), claims.end());
  if (claims.size() > most_claims) claims.resize(most_claims);
}

}  // namespace

bool is_item_name(std::string_view name) noexcept { return !parse_item(name).kind.empty(); }

queue_names read_names(const std::vector<std::string>& names) {
  queue_names all;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const auto& each : names) {
    if (each.starts_with("_claim-")) {
      ++all.claimed;
      all.claims.push_back(each);
    }
    const auto item = parse_item(each);
    if (item.kind.empty()) continue;
    ++all.items;
    all.last = std::max(all.last, item.number);
    const std::string_view taken = order_of(item.kind);
    all.order = all.order.empty() || all.order == taken ? taken : "mixed";
    const auto due = item.due_ms();
    const auto order = due.value_or(item.number);
    if (order >= first) continue;
    first = order;
    all.oldest = each;
    all.due.reset();
    if (due) all.due = std::chrono::milliseconds(*due);
  }
  keep_first_claims(all.claims);
  return all;
}

bool are_borrowed(const std::vector<std::string>& names, std::uint32_t created) {
  const bool is_marked =
      std::any_of(names.begin(), names.end(), [](const auto& each) { return each.starts_with('_'); });
  return !is_marked && read_names(names).last >= std::int64_t(created);
}

namespace {

namespace asio = boost::asio;
namespace detail = zkrecipes::detail;
using std::chrono::milliseconds;

constexpr std::size_t longest_parked = 256;

/// Sets which key is the first of those whose messages are parked, as far as that may be read.
asio::awaitable<void> look_at_parked(zkrecipes::session session, const std::string& marks, queue_status& to) {
  auto listing = co_await session.async_children(marks, as_result);
  const auto& names = std::get<1>(listing).names;
  if (std::get<0>(listing) || names.empty()) co_return;
  const auto first = *std::min_element(names.begin(), names.end());
  auto reading = co_await session.async_get(join(marks, first), as_result);
  if (std::get<0>(reading)) co_return;
  const auto& mark = std::get<1>(reading);
  to.parked_key = shortened(detail::read_mark(mark.data).value_or(first), longest_parked);
  to.parked_for = age_of(mark.stat, clock_now());
}

/// Adds what stands in a folder beside the items.
asio::awaitable<void> add_folders(zkrecipes::session session, const std::string& folder, queue_status& to) {
  const auto letters = join(folder, std::string(detail::dead_folder));
  const auto dead = co_await find_stat(session, letters);
  if (dead) to.dead_letters += static_cast<std::uint64_t>(dead->num_children);
  if (dead && dead->num_children > 0) to.letter_folder = letters;
  const auto idle = co_await find_stat(session, join(folder, std::string(detail::idle_folder)));
  if (idle) to.takers += static_cast<std::uint64_t>(idle->num_children);
  const auto marks = join(folder, std::string(detail::parked_folder));
  const auto parked = co_await find_stat(session, marks);
  if (!parked || parked->num_children == 0) co_return;
  to.parked_keys += static_cast<std::uint64_t>(parked->num_children);
  co_await look_at_parked(session, marks, to);
}

void add_claims(const std::string& folder, const queue_names& names, queue_status& to) {
  to.claimed += names.claimed;
  for (const auto& each : names.claims) to.claim_paths.push_back(join(folder, each));
}

/// A priority queue has its claims, dead letters and takers in a folder of their own, because kazoo takes every child
/// of the queue for an item.
/// Returns whether it is there.
asio::awaitable<bool> add_side(zkrecipes::session session, const std::string& side, queue_status& to) {
  const auto names = co_await find_children(session, side);
  if (!names) co_return false;
  add_claims(side, read_names(*names), to);
  co_await add_folders(session, side, to);
  co_return true;
}

/// kazoo's LockingQueue has its items in "entries", and beside it in "taken" a node of the same name for each claim.
asio::awaitable<void> add_taken(zkrecipes::session session, const std::string& path, queue_status& to) {
  constexpr std::string_view items = "/entries";
  if (!path.ends_with(items)) co_return;
  const auto folder = path.substr(0, path.size() - items.size()) + "/taken";
  const auto names = co_await find_children(session, folder);
  if (!names) co_return;
  queue_names claims;
  for (const auto& each : *names)
    if (is_item_name(each)) claims.claims.push_back(each);
  claims.claimed = claims.claims.size();
  std::sort(claims.claims.begin(), claims.claims.end());
  add_claims(folder, claims, to);
}

/// Sets for how long the taker that is first in line has waited.
asio::awaitable<void> look_at_first_taker(zkrecipes::session session, std::string folder, queue_status& to) {
  constexpr std::size_t digits = 10;
  const auto names = co_await find_children(session, folder);
  if (!names) co_return;
  std::string first, place;
  for (const auto& each : *names) {
    auto of_each = each.substr(each.size() - std::min(each.size(), digits));
    if (!first.empty() && of_each >= place) continue;
    first = each;
    place = std::move(of_each);
  }
  if (first.empty()) co_return;
  const auto stat = co_await find_stat(session, join(folder, first));
  if (stat) to.taker_waits = age_of(*stat, clock_now());
}

asio::awaitable<milliseconds> age_of_oldest(zkrecipes::session session, const std::string& path,
                                            const queue_names& names) {
  if (names.items == 0) co_return milliseconds(0);
  if (names.due) co_return clock_now() - *names.due;
  const auto stat = co_await find_stat(session, join(path, names.oldest));
  if (!stat) co_return milliseconds(0);  // it has been taken since
  co_return age_of(*stat, clock_now());
}

}  // namespace

asio::awaitable<reading<queue_status>> read_queue(zkrecipes::session session, std::string path) {
  reading<queue_status> result;
  auto listing = co_await session.async_children(path, as_result);
  result.error = std::get<0>(listing);
  if (result.error) co_return result;
  const auto names = read_names(std::get<1>(listing).names);
  auto& status = result.status;
  status.path = path;
  status.items = names.items;
  status.order = names.order;
  add_claims(path, names, status);
  status.oldest = co_await age_of_oldest(session, path, names);
  co_await add_folders(session, path, status);
  const bool has_side = co_await add_side(session, path + "-side", status);
  co_await add_taken(session, path, status);
  const auto& all = std::get<1>(listing).names;
  const auto is_of_queue = [](const auto& each) { return is_part_of(recipe::queue, each); };
  status.is_strange = !all.empty() && std::none_of(all.begin(), all.end(), is_of_queue) && !has_side;
  if (status.takers == 0 || status.items == 0 || status.claimed > 0) co_return result;
  for (const auto* side : {"", "-side"}) {
    if (!status.taker_waits) co_await look_at_first_taker(session, join(path + side, "_idle"), status);
  }
  co_return result;
}

}  // namespace zkadmin
