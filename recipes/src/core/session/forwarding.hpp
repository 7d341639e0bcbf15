// Passes the notifications of one condition on to another one.
#pragma once

#include "session/condition.hpp"

namespace zkrecipes::detail {

/// While it lives, each notification of `from` also notifies `to`. A coroutine that has to wait for signals of several
/// objects waits on a condition of its own, and has the conditions of these objects forwarded to it. Both conditions
/// have to outlive the forwarding. Forwardings must not form a circle. On the strand only.
class forwarding {
 public:
  forwarding(condition& from, condition& to) : from_(from), to_(to), next_(from.forwardings_) {
    from_.forwardings_ = this;
  }
  forwarding(const forwarding&) = delete;
  forwarding& operator=(const forwarding&) = delete;
  ~forwarding() {
    auto** link = &from_.forwardings_;
    while (*link != this) link = &(*link)->next_;
    *link = next_;
  }

 private:
  friend class condition;
  condition& from_;
  condition& to_;
  forwarding* next_;
};

}  // namespace zkrecipes::detail
