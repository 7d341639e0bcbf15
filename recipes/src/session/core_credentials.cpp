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

/// They are kept before they are sent: the answer can be lost, and then the next connection has to bring them.
awaitable<error_code> core::add_credentials(credentials added) {
  if (over()) co_return over();
  auto what = backend::make_authenticate(added);
  if (!problem_with(added).empty()) co_return errc::bad_arguments;
  if (size_on_wire(what) > options_.jute_maxbuffer) co_return errc::too_large;
  if (const auto refused = keep(std::move(added))) co_return refused;
  const incarnation_ptr any;
  const auto answer = co_await perform(std::move(what), retry::always, any);
  co_return answer.error;
}

error_code core::keep(credentials added) {
  const auto is_it = [&](const credentials& each) {
    return each.user == added.user && each.password == added.password;
  };
  if (std::ranges::any_of(credentials_, is_it)) return {};
  if (credentials_.size() >= most_credentials) return errc::full;
  auto all = credentials_;  // a list that grows would leave its old place as it is
  all.push_back(std::move(added));
  credentials_.swap(all);
  backend::wipe(all);
  log_.credentials_added();
  if (guardian_) guardian_->know(credentials_);
  return {};
}

/// Those that were added after the attempt to connect had begun.
void core::give_missing_credentials() {
  for (auto i = given_credentials_; i < credentials_.size(); ++i) send(backend::make_authenticate(credentials_[i]));
}

}  // namespace zkrecipes::detail
