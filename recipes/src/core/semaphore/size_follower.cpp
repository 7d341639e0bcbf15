#include "semaphore/size_follower.hpp"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "session/back_off.hpp"
#include "session/forwarding.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::chrono::milliseconds first_pause{100};
constexpr std::chrono::milliseconds max_pause{10'000};

}  // namespace

size_follower::size_follower(scheduler_ptr on, std::string path, permit_record known)
    : path_(std::move(path)), now_(std::move(known)), changed_(std::move(on)) {}

blocker size_follower::who_first() {
  return [self = shared_from_this()](std::span<const member> all, std::size_t which) {
    return who_fills(all, which, self->now_);
  };
}

void size_follower::start(own_node_ptr node) {
  const auto strand = node->session()->strand();
  launch_detached(strand, follow(shared_from_this(), std::move(node)));
}

void size_follower::stop() {
  stopped_ = true;
  changed_.notify();
}

/// A read that the server refuses is tried again later. Meanwhile we go by the last known size, unless the server was
/// only too busy.
awaitable<void> size_follower::follow(size_follower_ptr self, own_node_ptr node) {
  const auto& session = node->session();
  const auto& on = session->get_scheduler();
  const forwarding node_changes(node->changed(), self->changed_);
  back_off pause(first_pause, max_pause);
  while (!self->stopped_ && !node->lost()) {
    self->is_read_ = false;
    self->hint_ = session->arm(watch_kind::data, self->path_, self->changed_);
    auto look = make_request(backend::opcode::get, self->path_, true);
    auto seen = co_await session->perform(std::move(look), retry::always, node->bound());
    if (seen.error == errc::connection_loss) continue;  // nothing is watched yet
    const auto found = seen.error ? std::nullopt : parse_permits(seen.data);
    if (found) self->now_ = *found;
    self->is_read_ = seen.error != errc::server_error;  // with any other answer it will not be known better
    self->changed_.notify();
    if (!seen.error) pause.reset();
    const auto until = seen.error ? pause.next(*on) : never;
    const auto& hint = *self->hint_;
    while (!self->stopped_ && !node->lost() && !hint.fired() && on->now() < until) {
      co_await self->changed_.wait(until);
    }
  }
  self->hint_.reset();
}

}  // namespace zkrecipes::detail
