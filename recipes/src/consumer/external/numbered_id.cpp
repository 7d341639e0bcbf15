#include "external/numbered_id.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::string_view numbered_prefix = "zkr:";

}  // namespace

std::string to_string(const numbered_id& which) {
  return std::string(numbered_prefix) + which.producer + ':' + std::to_string(which.epoch) + ':' +
         std::to_string(which.number);
}

std::optional<numbered_id> parse_numbered_id(std::string_view text) {
  if (!text.starts_with(numbered_prefix)) return std::nullopt;
  text.remove_prefix(numbered_prefix.size());
  const auto second = text.rfind(':');
  const auto first = second == text.npos || second == 0 ? text.npos : text.rfind(':', second - 1);
  if (first == text.npos || first == 0 || first > longest_numbering_producer) return std::nullopt;
  const auto epoch = parse_plain_number(text.substr(first + 1, second - first - 1));
  const auto number = parse_plain_number(text.substr(second + 1));
  if (!epoch || !number || *number == 0) return std::nullopt;
  return numbered_id{std::string(text.substr(0, first)), *epoch, *number};
}

}  // namespace zkrecipes::detail
