#include <utility>

#include "commit/commit_leader.hpp"
#include "commit/parties.hpp"
#include "election/term_record.hpp"
#include "line/waiter.hpp"
#include "session/back_off.hpp"

namespace zkrecipes::detail {

namespace {

/// Stands for election and leads once. Errors: as `commit_leader::lead`.
awaitable<error_code> coordinate_once(core_ptr session, std::string path, commit_coordinator_options options) {
  auto entered = co_await waiter::enter(std::move(session), election_line(join(path, "_coordinator")), options.id);
  auto& [error, where] = entered;
  if (error) co_return error;
  error = co_await where->wait_turn(&nearest_ahead);
  if (!error) {
    auto leading = std::make_shared<commit_leader>(where->node(), std::move(path), std::move(options));
    error = co_await leading->lead();
    leading->stop();
  }
  where->node()->leave_later();
  co_return error;
}

}  // namespace

awaitable<outcome<>> coordinate(core_ptr session, std::string path, commit_coordinator_options options) {
  auto pause = session->patience();
  for (;;) {
    auto error = co_await coordinate_once(session, path, options);
    if (!error) pause.reset();
    // A server was too busy for too long, or the session's root is missing: campaign again, after a pause.
    if (error == errc::server_error || error == errc::no_node) {
      error = co_await session->outwait(pause, nullptr);
      if (!error) continue;
    }
    const bool lost = is_loss(error) && error != errc::closed;
    const bool again = !error || lost || error == errc::connection_loss;
    if (!again) co_return outcome<>(error);
  }
}

}  // namespace zkrecipes::detail
