// One direction of a connection: what is sent arrives in order after a delay, unless the pipe is frozen or
// cut.
#pragma once

#include "world/clockwork.hpp"

#include <deque>
#include <memory>
#include <optional>

namespace zkrecipes::simulation {

class pipe : public std::enable_shared_from_this<pipe> {
 public:
  pipe(clockwork& clock, std::uint64_t seed, std::uint64_t stream, span least, span most)
      : clock_(clock), chance_(seed, stream), least_(least), most_(most) {}

  /// `what` happens at the other end.
  void send(action what);

  /// Nothing arrives until `thaw`; then everything does, in order.
  void freeze() { frozen_ = true; }
  void thaw();
  bool frozen() const noexcept { return frozen_; }

  /// All but the first `kept` of what is on its way, and all that is sent later, is lost.
  void cut(std::size_t kept);
  std::size_t on_its_way() const noexcept { return queue_.size(); }

  /// All takes so much longer. What is on its way when it becomes less arrives sooner.
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
