#include "session/together.hpp"

#include <utility>

namespace zkrecipes::detail {

namespace {

lease_clock::time_point end_of(persistence how_long, const core& session) {
  const auto limit = session.options().retry.limit;
  return how_long == persistence::endless || limit.count() == 0 ? never : session.now() + limit;
}

awaitable<error_code> connection_until(core_ptr session, lease_clock::time_point end) {
  auto error = co_await session->wait_connected(nullptr, end);
  co_return error == errc::timed_out ? make_error_code(errc::connection_loss) : error;
}

bool is_lost(const error_code& error) { return error == errc::connection_loss || error == errc::session_expired; }

/// Of those that no server gives.
bool is_final(const error_code& error) {
  return error == asio::error::operation_aborted || error == errc::closed || error == errc::auth_failed;
}

}  // namespace

awaitable<error_code> wait_connected(core_ptr session, persistence how_long) {
  const auto end = end_of(how_long, *session);
  co_return co_await connection_until(std::move(session), end);
}

awaitable<outcome<std::vector<backend::reply>>> perform_together(core_ptr session, std::vector<backend::request> all,
                                                                 persistence how_long) {
  using result_type = outcome<std::vector<backend::reply>>;
  const auto end = end_of(how_long, *session);
  for (;;) {
    auto error = co_await connection_until(session, end);
    if (error) co_return result_type(error, {});
    std::vector<exchange_ptr> sent;
    for (const auto& each : all) sent.push_back(session->send(each));
    std::vector<backend::reply> replies;
    bool lost = false;
    for (const auto& each : sent) {
      replies.push_back(co_await session->answer(each));
      if (is_final(replies.back().error)) co_return result_type(replies.back().error, {});
      lost = lost || is_lost(replies.back().error);
    }
    if (!lost) co_return result_type(error_code(), std::move(replies));
    // Lost although the connection still seems to be there: its end is on the way.
    if (session->connected()) co_await session->changed().wait(session->now() + session->options().retry.first_pause);
  }
}

}  // namespace zkrecipes::detail
