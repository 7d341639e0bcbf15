// Failed attempts at a message of a log, as its position has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace zkrecipes::detail {

/// Failed attempts at a message.
struct failed_attempts {
  std::int32_t count = 0;
  std::int64_t since = 0;  ///< When the first of them failed, in milliseconds since 1970.
};

/// A record names at most so many messages with failed attempts, because each commit writes it as a whole. Attempts at
/// others count in the memory of the term that has them in hand.
inline constexpr std::size_t most_counted = 100;

/// One more has failed, at this time. The highest count and the earliest time are those that `parse_failed_attempts`
/// reads.
void count_failure(failed_attempts& of, std::int64_t now);

/// The same for one of those that a record names, as long as there is room in it.
template <class Failures, class Name>
void count_failure(Failures& all, const Name& which, std::int64_t now) {
  if (all.size() < most_counted || all.contains(which)) count_failure(all[which], now);
}

/// `17.3 2 1700000000000`: the name of a message, its failed attempts, and when the first of them failed.
std::string failed_text(const std::string& name, const failed_attempts& attempts);
/// The name, unread, and its attempts. Nothing if the text is not of this form.
std::optional<std::pair<std::string_view, failed_attempts>> parse_failed_attempts(std::string_view text);

}  // namespace zkrecipes::detail
