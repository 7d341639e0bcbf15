#include "commit/commit_campaign.hpp"

#include <memory>
#include <utility>

#include "commit/commit_leader.hpp"
#include "election/term_record.hpp"
#include "line/leaving.hpp"
#include "line/member_data.hpp"
#include "line/waiter.hpp"
#include "session/back_off.hpp"
#include "session/mending.hpp"

namespace zkrecipes::detail {

commit_campaign::commit_campaign(core_ptr session, std::string path, commit_coordinator_options options)
    : session_(std::move(session)), path_(std::move(path)), options_(std::move(options)) {}

awaitable<outcome<>> commit_campaign::run() {
  auto pause = session_->patience();
  for (;;) {
    auto error = co_await lead_once();
    if (!error) pause.reset();
    // The session's root can be made a moment later, so that it is missing is waited out from the beginning.
    if (is_refused(error) && mends(error, has_worked_ || error == errc::no_node)) {
      if (options_.on_refused) options_.on_refused({}, error);
      error = co_await session_->outwait(pause, nullptr);
      if (!error) continue;
    }
    if (!mends(error, false)) co_return outcome<>(error);
    while (session_->has_lapsed()) {
      error = co_await session_->outwait(pause, nullptr);
      if (error) co_return outcome<>(error);
    }
  }
}

/// Stands for election and leads once. Errors: as `commit_leader::lead`.
awaitable<error_code> commit_campaign::lead_once() {
  auto line = election_line(join(path_, "_coordinator"));
  auto entered = co_await waiter::enter(session_, std::move(line), id_data(options_.id));
  auto& [error, where] = entered;
  if (error) co_return error;
  const leaving place(where->node());
  has_worked_ = true;
  error = co_await where->wait_turn(&nearest_ahead);
  if (!error) {
    auto leading = std::make_shared<commit_leader>(where->node(), path_, options_);
    error = co_await leading->lead();
    leading->stop();
  }
  co_return error;
}

}  // namespace zkrecipes::detail
