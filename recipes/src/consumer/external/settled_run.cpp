#include "external/settled_run.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "external/plain_number.hpp"

namespace zkrecipes::detail {

/// The place of the first range above the number.
std::size_t settled_run::place_behind(std::uint64_t number) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(ranges_, number, {}, &range::first) - ranges_.begin());
}

bool settled_run::has(std::uint64_t number) const {
  const auto behind = place_behind(number);
  return behind > 0 && number <= ranges_[behind - 1].last;
}

/// Those that the new range touches become one with it.
void settled_run::add(std::uint64_t first, std::uint64_t last) {
  if (first == 0 || first > last) return;
  const auto begin = std::ranges::lower_bound(ranges_, first - 1, {}, &range::last);
  auto end = begin;
  while (end != ranges_.end() && end->first - 1 <= last) ++end;
  if (begin == end) {
    ranges_.insert(begin, {first, last});
  } else {
    *begin = {std::min(first, begin->first), std::max(last, std::prev(end)->last)};
    ranges_.erase(begin + 1, end);
  }
  if (ranges_.size() > most_ranges) forget_lowest();
}

void settled_run::add(const settled_run& other) {
  for (const auto& each : other.ranges_) add(each.first, each.last);
}

void settled_run::remove(const settled_run& other) {
  settled_run rest;
  for (const auto& each : ranges_) rest.add(other.without(each.first, each.last));
  ranges_ = std::move(rest.ranges_);
}

settled_run settled_run::without(std::uint64_t first, std::uint64_t last) const {
  settled_run rest;
  for (const auto& each : ranges_) {
    if (each.first > last) break;
    if (each.first > first) rest.add(first, each.first - 1);
    first = std::max(first, each.last + 1);
  }
  rest.add(first, last);
  return rest;
}

std::string settled_run::to_text() const {
  std::string text;
  for (const auto& each : ranges_) {
    if (!text.empty()) text += ',';
    text += std::to_string(each.first);
    if (each.last != each.first) text.append(1, '-').append(std::to_string(each.last));
  }
  return text;
}

std::optional<settled_run> settled_run::parse(std::string_view text) {
  settled_run all;
  for (bool goes_on = true; goes_on;) {
    const auto comma = text.find(',');
    const auto one = parse_range(text.substr(0, comma));
    if (!one || !all.append(*one)) return std::nullopt;
    goes_on = comma != text.npos;
    if (goes_on) text.remove_prefix(comma + 1);
  }
  return all;
}

std::optional<settled_run::range> settled_run::parse_range(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = parse_plain_number(text.substr(0, dash));
  const auto last = dash == text.npos ? first : parse_plain_number(text.substr(dash + 1));
  const bool is_range = first && last && *first > 0 && (dash == text.npos || *first < *last);
  return is_range ? std::optional(range{*first, *last}) : std::nullopt;
}

/// There is a number between it and the range in front of it.
bool settled_run::append(const range& one) {
  if (ranges_.size() == most_ranges) return false;
  if (!ranges_.empty() && (one.first <= ranges_.back().last || one.first - 1 == ranges_.back().last)) return false;
  ranges_.push_back(one);
  return true;
}

}  // namespace zkrecipes::detail
