#include "topic/packed_batch.hpp"

#include <charconv>

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

}  // namespace zkrecipes::detail
