#include "session/credentials.hpp"

#include <algorithm>
#include <utility>

#include "backend/guardian/guardian_message.hpp"
#include "backend/wiped_credentials.hpp"
#include "session/paths.hpp"

namespace zkrecipes::detail {

namespace {

/// Each new connection carries all of them, and the guardian holds no more.
constexpr std::size_t most_credentials = backend::most_guarded_digests;

}  // namespace

std::string_view problem_with(const credentials& given) {
  if (given.user.empty() || given.user.find(':') != given.user.npos) return "a user must not be empty or contain ':'";
  if (has_nul(given.user) || has_nul(given.password)) return "neither may contain a NUL byte";
  return {};
}

std::size_t bytes_of(const std::vector<credentials>& all) {
  std::size_t sum = 0;
  for (const auto& each : all) sum += each.user.size() + each.password.size();
  return sum;
}

credential_list::credential_list(std::vector<credentials> all) noexcept : all_(std::move(all)) {}

credential_list::~credential_list() { backend::wipe(all_); }

bool credential_list::has(const credentials& which) const {
  return std::ranges::any_of(
      all_, [&](const credentials& each) { return each.user == which.user && each.password == which.password; });
}

error_code credential_list::add(const credentials& added) {
  const auto bytes = bytes_of(all_) + added.user.size() + added.password.size();
  if (all_.size() >= most_credentials || bytes > most_credential_bytes) return errc::full;
  std::vector<credentials> all;
  all.reserve(all_.size() + 1);  // a list that grows would leave its old place as it is
  all.insert(all.end(), all_.begin(), all_.end());
  all.push_back(added);
  all_.swap(all);
  backend::wipe(all);
  return {};
}

}  // namespace zkrecipes::detail
