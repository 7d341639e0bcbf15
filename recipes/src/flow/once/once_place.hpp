// Where intents are kept: `<path>/<period>/<hash of the key>`.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "format/whole_number.hpp"
#include "queue/key_mark.hpp"
#include "session/paths.hpp"

namespace zkrecipes::detail {

struct once_place {
  std::string root;
  std::chrono::milliseconds per;

  std::string clock() const { return join(root, "_once_clock"); }
  std::string period(std::int64_t number) const { return join(root, std::to_string(number)); }
  std::string intent(std::int64_t number, std::string_view key) const { return join(period(number), mark_of(key)); }

  /// Times are milliseconds since 1970.
  std::int64_t period_at(std::int64_t time) const { return time / per.count(); }
  std::int64_t end_of(std::int64_t number) const { return (number + 1) * per.count(); }
  /// Nothing if the node is not a period of ours.
  static std::optional<std::int64_t> period_named(std::string_view name) {
    const auto number = parse_whole<std::int64_t>(name);
    return number && std::to_string(*number) == name ? number : std::nullopt;
  }
};

}  // namespace zkrecipes::detail
