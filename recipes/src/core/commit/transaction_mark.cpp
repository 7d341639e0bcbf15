#include "commit/transaction_mark.hpp"

#include <charconv>

#include "session/paths.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::int64_t hour_ms = 3'600'000;

}  // namespace

std::string undecided_folder(const std::string& path) { return join(path, "_undecided"); }
std::string undecided_mark(const std::string& path, const std::string& id) { return join(undecided_folder(path), id); }
std::string decided_folder(const std::string& path) { return join(path, "_decided"); }
std::string decided_mark(const std::string& path, const std::string& id, std::int64_t begun) {
  return join(join(decided_folder(path), std::to_string(begun / hour_ms)), id);
}

std::optional<std::int64_t> hour_of(const std::string& folder) {
  std::int64_t hour = 0;
  const auto* end = folder.data() + folder.size();
  auto [rest, error] = std::from_chars(folder.data(), end, hour);
  const bool is_hour = error == std::errc() && rest == end && hour >= 0 && hour < (std::int64_t{1} << 40);
  return is_hour ? std::optional(hour * hour_ms) : std::nullopt;
}

}  // namespace zkrecipes::detail
