#include "session/together.hpp"

#include <utility>

namespace zkrecipes::detail {

namespace {

/// Of those that no server gives.
bool is_final(const error_code& error) {
  return error == asio::error::operation_aborted || error == errc::closed || error == errc::auth_failed;
}

}  // namespace

awaitable<outcome<std::vector<backend::reply>>> perform_together(core_ptr session, std::vector<backend::request> all,
                                                                 persistence how_long) {
  using result_type = outcome<std::vector<backend::reply>>;
  for (;;) {
    auto replies = co_await session->perform_all(all);
    bool again = false;
    for (const auto& each : replies) {
      const bool is_late = each.error == errc::connection_loss && how_long == persistence::limited;
      if (is_late || is_final(each.error)) co_return result_type(each.error, {});
      again = again || each.error == errc::connection_loss || each.error == errc::session_expired;
    }
    if (!again) co_return result_type(error_code(), std::move(replies));
  }
}

}  // namespace zkrecipes::detail
