#include "cluster/queue_status.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

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

}  // namespace zkadmin
