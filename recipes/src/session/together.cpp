#include "session/together.hpp"

#include <utility>

namespace zkrecipes::detail {

using namespace std::chrono_literals;

namespace {

/// Of those that no server gives.
bool is_final(const error_code& error) {
  return error == asio::error::operation_aborted || error == errc::closed || error == errc::auth_failed;
}

/// What is read behind a sync that the server refused may be the past.
error_code refused_sync(const std::vector<backend::request>& all, const std::vector<backend::reply>& replies) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].op == backend::opcode::sync && replies[i].error) return replies[i].error;
  }
  return {};
}

}  // namespace

awaitable<outcome<std::vector<backend::reply>>> perform_together(core_ptr session, std::vector<backend::request> all,
                                                                 persistence how_long) {
  using result_type = outcome<std::vector<backend::reply>>;
  const auto limit = session->options().retry.limit;
  const auto deadline = how_long == persistence::limited && limit.count() ? session->now() + limit : never;
  condition pause(session->get_scheduler());
  for (;;) {
    auto replies = co_await session->perform_all(all);
    bool again = false;
    for (const auto& each : replies) {
      const bool is_late = each.error == errc::connection_loss && how_long == persistence::limited;
      if (is_late || is_final(each.error)) co_return result_type(each.error, {});
      again = again || each.error == errc::connection_loss || each.error == errc::session_expired;
    }
    if (again) continue;
    const auto refused = refused_sync(all, replies);
    if (!refused || session->now() >= deadline) co_return result_type(refused, std::move(replies));
    co_await pause.wait(session->now() + 50ms);
  }
}

}  // namespace zkrecipes::detail
