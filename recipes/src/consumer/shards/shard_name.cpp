#include "shards/shard_name.hpp"

#include <algorithm>

#include "format/shown_text.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::size_t max_digits = 4;

struct shard_range {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// Takes the text up to the next separator away.
std::string_view cut(std::string_view& text, char separator) {
  const auto end = std::min(text.find(separator), text.size());
  const auto part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::optional<std::uint32_t> parse_shard(std::string_view digits) {
  return digits.size() <= max_digits ? parse_whole<std::uint32_t>(digits) : std::nullopt;
}

std::optional<shard_range> parse_range(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = parse_shard(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_shard(text.substr(dash + 1));
  if (!first || !last || *first > *last) return std::nullopt;
  return shard_range{*first, *last};
}

std::string text_of(shard_range range) {
  const auto first = std::to_string(range.first);
  return range.first == range.last ? first : first + "-" + std::to_string(range.last);
}

}  // namespace

std::optional<shard_set> shard_set::parse(std::string_view text) {
  shard_set parsed;
  if (text.ends_with(',')) return std::nullopt;
  while (!text.empty()) {
    const auto range = parse_range(cut(text, ','));
    if (!range || (!parsed.empty() && range->first <= *parsed.all_.rbegin())) return std::nullopt;
    for (auto shard = range->first; shard <= range->last; ++shard) parsed.insert(shard);
  }
  return parsed;
}

std::string shard_set::to_text() const {
  std::string text;
  for (auto each = all_.begin(); each != all_.end();) {
    shard_range range{*each, *each};
    while (++each != all_.end() && *each == range.last + 1) range.last = *each;
    if (!text.empty()) text += ',';
    text += text_of(range);
  }
  return text;
}

namespace {

constexpr std::size_t name_length = 4;

}  // namespace

std::string shard_name(std::uint32_t number) {
  auto digits = std::to_string(number);
  return std::string(name_length - std::min(name_length, digits.size()), '0') + digits;
}

std::optional<std::uint32_t> parse_shard_name(std::string_view name) {
  return name.size() == name_length ? parse_whole<std::uint32_t>(name) : std::nullopt;
}

}  // namespace zkrecipes::detail
