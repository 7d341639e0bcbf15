// The credentials of a session: those that it began with, and those that were added since.
#include <algorithm>
#include <utility>

#include "backend/wiped_credentials.hpp"
#include "session/core.hpp"
#include "session/credentials.hpp"
#include "session/paths.hpp"
#include "session/request_size.hpp"

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

/// They are kept before they are sent: the answer can be lost, and then the next connection has to bring them.
awaitable<error_code> core::add_credentials(std::shared_ptr<const credentials> added) {
  if (over()) co_return over();
  if (!problem_with(*added).empty()) co_return errc::bad_arguments;
  auto what = backend::make_authenticate(added);
  if (size_on_wire(what) > options_.jute_maxbuffer) co_return errc::too_large;
  if (const auto refused = keep(*added)) co_return refused;
  const incarnation_ptr any;
  const auto answer = co_await perform(std::move(what), retry::always, any);
  co_return answer.error;
}

error_code core::keep(const credentials& added) {
  const auto is_it = [&](const credentials& each) {
    return each.user == added.user && each.password == added.password;
  };
  if (std::ranges::any_of(credentials_, is_it)) return {};
  const auto bytes = bytes_of(credentials_) + added.user.size() + added.password.size();
  if (credentials_.size() >= most_credentials || bytes > most_credential_bytes) return errc::full;
  std::vector<credentials> all;
  all.reserve(credentials_.size() + 1);  // a list that grows would leave its old place as it is
  all.insert(all.end(), credentials_.begin(), credentials_.end());
  all.push_back(added);
  credentials_.swap(all);
  backend::wipe(all);
  log_.credentials_added();
  if (guardian_) guardian_->know(credentials_);
  return {};
}

/// Those that were added after the attempt to connect had begun.
void core::give_missing_credentials() {
  for (auto i = given_credentials_; i < credentials_.size(); ++i) {
    send(backend::make_authenticate(backend::hold_secret(credentials(credentials_[i]))));
  }
}

}  // namespace zkrecipes::detail
