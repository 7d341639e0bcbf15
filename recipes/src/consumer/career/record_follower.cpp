#include "career/record_follower.hpp"

#include <utility>

#include "session/back_off.hpp"
#include "session/forwarding.hpp"

namespace zkrecipes::detail {

record_follower::record_follower(scheduler_ptr on, std::optional<known_record> known,
                                 std::function<void(const term_record&)> told)
    : known_(std::move(known)), told_(std::move(told)), changed_(std::move(on)) {}

void record_follower::start(waiter_ptr candidate) {
  const auto strand = candidate->node()->session()->strand();
  launch_detached(strand, follow(shared_from_this(), std::move(candidate)));
}

void record_follower::stop() {
  stopped_ = true;
  changed_.notify();
}

awaitable<void> record_follower::follow(std::shared_ptr<record_follower> self, waiter_ptr candidate) {
  const auto& node = *candidate->node();
  const auto& session = *node.session();
  const auto& path = node.line().parent;
  const forwarding line_changes(candidate->changed(), self->changed_);
  back_off pause(session.options().retry.first_pause, session.options().retry.max_pause);
  while (!self->stopped_ && !node.lost()) {
    if (!candidate->line().is_next()) {
      co_await self->changed_.wait();
      continue;
    }
    auto hint = node.session()->arm(watch_kind::data, path, self->changed_);
    auto read = co_await read_record(node.session(), path, node.bound());
    auto& [error, known] = read;
    if (error == errc::connection_loss) continue;  // the watch was not set
    if (error == errc::server_error || error == errc::no_auth) {
      co_await self->changed_.wait(pause.next(*session.get_scheduler()));
      continue;
    }
    if (error) co_return;
    if (!self->stopped_) {
      self->told_(known.record);
      self->known_ = std::move(known);
    }
    while (!hint->fired() && !self->stopped_ && !node.lost()) co_await self->changed_.wait();
  }
}

}  // namespace zkrecipes::detail
