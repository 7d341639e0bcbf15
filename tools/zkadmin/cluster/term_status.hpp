// One term of an election, as its record tells.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace zkadmin {

struct term_status {
  using time_point = std::chrono::system_clock::time_point;

  std::int64_t epoch = 0;
  std::string leader;
  std::optional<time_point> began{};  ///< By the servers' clock; nothing: it is not known.
  std::optional<time_point> ended{};  ///< The same; nothing also while the term goes on.
  std::string outcome{};              ///< How it ended; empty while it goes on.
  friend bool operator==(const term_status&, const term_status&) = default;
};

}  // namespace zkadmin
