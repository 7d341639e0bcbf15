// One direction of a connection: messages arrive in order after a delay, unless the pipe is frozen or cut.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "world/clockwork.hpp"

namespace zkrecipes::simulation {

class pipe : public std::enable_shared_from_this<pipe> {
 public:
  pipe(clockwork& clock, std::uint64_t seed, std::uint64_t stream, span least, span most)
      : clock_(clock), chance_(seed, stream), least_(least), most_(most) {}

  /// `what` is called when the message arrives at the other end.
  void send(action what);

  /// Nothing arrives until `thaw`; then everything arrives, in order.
  void freeze() { frozen_ = true; }
  void thaw();
  bool frozen() const noexcept { return frozen_; }

  /// Only the first `kept` messages on their way still arrive; the rest, and everything sent later, is lost.
  void cut(std::size_t kept);
  std::size_t on_its_way() const noexcept { return queue_.size(); }

  /// Adds `extra` to the delay of every message sent from now on. If it is less than before, messages that are already
  /// on their way arrive sooner by the difference.
  void slow_by(span extra);

 private:
  void arrive();
  void schedule();

  clockwork& clock_;
  chance chance_;
  span least_;
  span most_;
  span extra_{0};
  instant last_{0};
  struct item {
    instant when;
    action what;
  };
  std::deque<item> queue_;
  std::optional<instant> scheduled_;
  bool frozen_ = false;
  bool cut_ = false;
};

using pipe_ptr = std::shared_ptr<pipe>;

}  // namespace zkrecipes::simulation
