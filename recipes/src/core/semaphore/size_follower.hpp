// The size of a semaphore, as one acquisition knows it.
#pragma once

#include <memory>
#include <string>

#include "line/line_spec.hpp"
#include "line/own_node.hpp"
#include "semaphore/permit_record.hpp"
#include "session/condition.hpp"
#include "session/watch.hpp"

namespace zkrecipes::detail {

/// The size by which one acquisition decides whether it holds or waits. While it waits it follows the size, because a
/// resize can let it in, or leave fewer permits than it asks for. On the strand.
class size_follower : public std::enable_shared_from_this<size_follower> {
 public:
  size_follower(scheduler_ptr on, std::string path, permit_record known);

  const permit_record& now() const noexcept { return now_; }
  void note(const permit_record& size) { now_ = size; }
  /// Decides by the size at the moment when it is asked.
  blocker who_first();

  /// Follows the size until `stop`, or until the node is lost.
  void start(own_node_ptr node);
  void stop();
  /// Nothing is known to have happened to the size since it was read. Only while it is followed.
  bool is_current() const { return is_read_ && hint_ && !hint_->fired(); }
  /// The size, or what is known of it, has changed.
  condition& changed() noexcept { return changed_; }

 private:
  static awaitable<void> follow(std::shared_ptr<size_follower> self, own_node_ptr node);

  std::string path_;
  permit_record now_;
  condition changed_;
  std::unique_ptr<watch> hint_;  // fires when `now_` is out of date
  bool is_read_ = false;         // the read behind `hint_` was answered
  bool stopped_ = false;
};

using size_follower_ptr = std::shared_ptr<size_follower>;

}  // namespace zkrecipes::detail
