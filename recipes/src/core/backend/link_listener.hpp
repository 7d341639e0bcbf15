#pragma once

#include <zkrecipes/error.hpp>

#include "backend/session_key.hpp"
#include "backend/watch_event.hpp"

namespace zkrecipes::backend {

/// Receives the events of a link. No call comes after `down`.
class link_listener {
 public:
  virtual void up(const session_key& granted) = 0;
  /// Reasons: `connection_loss`, `timed_out` (nothing came any more),
  /// `no_descriptors`, `session_expired`, `auth_failed`, `read_only`, or `closed` after `close_session`. Before `up`
  /// also an error of the operating system, if that is why there is no connection: `connection_refused`,
  /// `host_unreachable` and such, or a `tls_errc`. All pending requests have been answered before.
  virtual void down(error_code reason) = 0;
  virtual void fired(const watch_event& event) = 0;

 protected:
  ~link_listener() = default;
};

}  // namespace zkrecipes::backend
