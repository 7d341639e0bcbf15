#include "session/together.hpp"

#include <utility>

#include "session/back_off.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::chrono::milliseconds first_pause_when_refused{50};
constexpr std::chrono::milliseconds longest_pause_when_refused{1'000};

}  // namespace

awaitable<outcome<std::vector<backend::reply>>> perform_together(core_ptr session, std::vector<backend::request> all,
                                                                 persistence how_long) {
  using result_type = outcome<std::vector<backend::reply>>;
  for (;;) {
    auto replies = co_await session->perform_all(all);
    bool again = false;
    for (const auto& each : replies) {
      const bool is_late = is_reply_lost(each.error) && how_long == persistence::limited;
      if (is_late || forbids_retry(each.error)) co_return result_type(each.error, {});
      again = again || may_have_happened(each.error);
    }
    if (!again) co_return result_type(error_code(), std::move(replies));
  }
}

awaitable<outcome<std::vector<backend::reply>>> perform_latest(core_ptr session, std::vector<backend::request> all,
                                                               persistence how_long) {
  using result_type = outcome<std::vector<backend::reply>>;
  const auto deadline = how_long == persistence::limited ? session->retry_deadline() : never;
  const incarnation_ptr any;
  back_off pause(first_pause_when_refused, longest_pause_when_refused);
  all.insert(all.begin(), backend::make_catch_up());
  for (;;) {
    auto answered = co_await perform_together(session, all, how_long);
    auto& [error, replies] = answered;
    if (error) co_return result_type(error, {});
    const auto refused = has_caught_up(replies.front().error) ? error_code() : replies.front().error;
    replies.erase(replies.begin());
    if (!refused || session->now() >= deadline) co_return result_type(refused, std::move(replies));
    const bool again = co_await session->rest(pause, any);
    if (!again) co_return result_type(session->over() ? session->over() : asio::error::operation_aborted, {});
  }
}

/// A throttled server refuses without the leader (`server_error`). With `no_node` and `no_auth` the leader has judged
/// the check.
bool has_caught_up(const error_code& answer) { return !answer || answer == errc::no_node || answer == errc::no_auth; }

}  // namespace zkrecipes::detail
