#include "topic/topic_layout.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "format/shown_text.hpp"
#include "session/paths.hpp"
#include "source/log_source.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::string_view batch_mark = "17:zkrecipes:batch:1,";
constexpr std::size_t most_digits = 9;

std::size_t digits_of(std::size_t number) {
  std::size_t count = 1;
  for (; number >= 10; number /= 10) ++count;
  return count;
}

void append_netstring(std::string& to, std::string_view bytes) {
  char length[24];
  const auto end = std::to_chars(length, length + sizeof length, bytes.size()).ptr;
  to.append(length, end).append(1, ':').append(bytes).append(1, ',');
}

/// Takes one netstring from the front.
std::optional<std::string_view> take_netstring(std::string_view& from) {
  std::size_t length = 0;
  const auto* end = from.data() + std::min(from.size(), most_digits);
  const auto [stop, error] = std::from_chars(from.data(), end, length);
  if (error != std::errc()) return std::nullopt;
  const auto start = static_cast<std::size_t>(stop - from.data()) + 1;
  const bool fits = start - 1 < from.size() && from[start - 1] == ':' && from.size() - start > length;
  if (!fits || from[start + length] != ',') return std::nullopt;
  const auto bytes = from.substr(start, length);
  from.remove_prefix(start + length + 1);
  return bytes;
}

}  // namespace

packed_batch::packed_batch() : text_(batch_mark) {}

std::size_t packed_batch::size_of(std::string_view key, std::string_view data) {
  constexpr std::size_t punctuation = 4;
  return digits_of(key.size()) + key.size() + digits_of(data.size()) + data.size() + punctuation;
}

void packed_batch::add(std::string_view key, std::string_view data) {
  append_netstring(text_, key);
  append_netstring(text_, data);
  ++count_;
}

std::optional<unpacked_batch> unpack(std::string_view text) {
  if (!text.starts_with(batch_mark)) return std::nullopt;
  text.remove_prefix(batch_mark.size());
  unpacked_batch all;
  while (!text.empty()) {
    const auto key = take_netstring(text);
    const auto data = key ? take_netstring(text) : std::nullopt;
    if (!data) return std::nullopt;
    all.emplace_back(*key, *data);
  }
  return all;
}

bool is_topic_message(std::string_view name) { return parse_message_name(name).has_value(); }

std::optional<transaction> revival_of(const source_layout& where, std::uint32_t shards, std::string_view group,
                                      const dead_letter& which, std::int32_t version) {
  const auto shard = shard_of_letter(which.item, &is_topic_message);
  const bool is_named = !which.name.empty() && which.name.find('/') == which.name.npos;
  if (!shard || *shard >= shards || !is_named) return std::nullopt;
  packed_batch content;
  content.add(which.key, which.data);
  transaction all;
  all.remove(join(where.dead(group), which.name), version);
  all.create(batch_path(where, *shard, batch_marker(1)), content.text(), create_mode::persistent_sequential);
  return all;
}

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
