#pragma once

#include "backend/reply.hpp"
#include "backend/request.hpp"

namespace zkrecipes::backend {

/// One connection to one server, carrying one session. Requests are executed in the order of submission. Watches end
/// with the link. Destroying it drops the connection at once without a call back; the session lives on.
class link {
 public:
  virtual ~link() = default;
  /// Only between `up` and `down`. The handler is called exactly once, unless the link is destroyed first.
  virtual void submit(request what, reply_handler handler) = 0;
  /// Ends the session on the server; `down` follows, with `closed`, when that is certain or the connection broke.
  virtual void close_session() = 0;
};

}  // namespace zkrecipes::backend
