#include "world/pipe.hpp"

#include <algorithm>
#include <utility>

namespace zkrecipes::simulation {

void pipe::send(action what) {
  if (cut_) return;
  last_ = std::max(last_, clock_.now() + extra_ + chance_.between(least_, most_));
  queue_.push_back({last_, std::move(what)});
  schedule();
}

void pipe::schedule() {
  if (frozen_ || queue_.empty()) return;
  const auto when = queue_.front().when;
  if (scheduled_ && *scheduled_ <= when) return;
  scheduled_ = when;
  clock_.at(when, [self = shared_from_this(), when] {
    if (self->scheduled_ == when) self->scheduled_.reset();
    self->arrive();
  });
}

void pipe::slow_by(span extra) {
  const auto gained = extra_ - extra;
  extra_ = extra;
  if (gained <= span(0)) return;
  auto sooner = [&](instant when) { return std::max(clock_.now(), when - gained); };
  for (auto& each : queue_) each.when = sooner(each.when);
  last_ = sooner(last_);
  schedule();
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
  while (queue_.size() > kept) queue_.pop_back();
}

}  // namespace zkrecipes::simulation
