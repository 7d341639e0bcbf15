#include "redis/stream_id.hpp"

#include "format/whole_number.hpp"

namespace zkrecipes::detail {

namespace {

std::optional<std::uint64_t> part_of_id(std::string_view text) {
  const bool is_usual = text.size() == 1 || !text.starts_with('0');
  return is_usual ? parse_whole<std::uint64_t>(text) : std::nullopt;
}

}  // namespace

std::string to_string(const stream_id& id) { return std::to_string(id.ms) + '-' + std::to_string(id.sequence); }

std::optional<stream_id> parse_stream_id(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == text.npos) return std::nullopt;
  const auto ms = part_of_id(text.substr(0, dash));
  const auto sequence = part_of_id(text.substr(dash + 1));
  return ms && sequence ? std::optional(stream_id{*ms, *sequence}) : std::nullopt;
}

}  // namespace zkrecipes::detail
