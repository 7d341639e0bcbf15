#include "world/pipe.hpp"

#include <algorithm>
#include <utility>

namespace zkrecipes::simulation {

void pipe::send(std::function<void()> what) {
  if (cut_) return;
  last_ = std::max(last_, clock_.now() + extra_ + chance_.between(least_, most_));
  queue_.push_back({last_, std::move(what)});
  schedule();
}

void pipe::schedule() {
  if (scheduled_ || frozen_ || queue_.empty()) return;
  scheduled_ = true;
  clock_.at(queue_.front().when, [self = shared_from_this()] {
    self->scheduled_ = false;
    self->arrive();
  });
}

void pipe::arrive() {
  if (frozen_ || queue_.empty()) return;
  if (queue_.front().when <= clock_.now()) {
    auto next = std::move(queue_.front().what);
    queue_.pop_front();
    next();
  }
  schedule();
}

void pipe::thaw() {
  frozen_ = false;
  schedule();
}

void pipe::cut(std::size_t kept) {
  cut_ = true;
  if (queue_.size() > kept) queue_.resize(kept);
}

}  // namespace zkrecipes::simulation
