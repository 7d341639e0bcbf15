#include "topic/topic_layout.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "format/shown_text.hpp"
#include "session/paths.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::string_view batch_prefix = "b-";
constexpr std::size_t number_digits = 10;

/// Nothing unless the text is a decimal number in the usual notation, without a sign or leading zeros.
template <class Number>
std::optional<Number> parse_plain(std::string_view text) {
  const bool is_usual = text.size() == 1 || !text.starts_with('0');
  return is_usual ? parse_whole<Number>(text) : std::nullopt;
}

}  // namespace

std::string batch_path(const source_layout& where, std::uint32_t shard, std::string_view name) {
  return join(where.shard(shard), name);
}

std::string batch_marker(std::size_t count) { return std::string(batch_prefix) + std::to_string(count) + '-'; }

std::optional<batch_name> parse_batch_name(std::string_view name) {
  if (!name.starts_with(batch_prefix)) return std::nullopt;
  const auto dash = name.find('-', batch_prefix.size());
  if (dash == name.npos || name.size() - dash - 1 != number_digits) return std::nullopt;
  const auto count = parse_plain<std::uint32_t>(name.substr(batch_prefix.size(), dash - batch_prefix.size()));
  const auto number = parse_whole<std::int32_t>(name.substr(dash + 1));
  const bool is_good = count && number && *number < std::numeric_limits<std::int32_t>::max();
  return is_good ? std::optional(batch_name{std::string(name), *number, *count}) : std::nullopt;
}

std::vector<batch_name> batches_of(const std::vector<std::string>& children) {
  std::vector<batch_name> all;
  for (const auto& each : children) {
    if (auto one = parse_batch_name(each)) all.push_back(std::move(*one));
  }
  std::ranges::sort(all, {}, &batch_name::number);
  return all;
}

std::string message_name(const message_place& where) {
  return std::to_string(where.batch) + '.' + std::to_string(where.index);
}

std::optional<message_place> parse_message_name(std::string_view name) {
  const auto dot = name.find('.');
  if (dot == name.npos) return std::nullopt;
  const auto batch = parse_plain<std::int32_t>(name.substr(0, dot));
  const auto index = parse_plain<std::uint32_t>(name.substr(dot + 1));
  if (!batch || !index) return std::nullopt;
  return message_place{*batch, *index};
}

}  // namespace zkrecipes::detail
