// Decides when a background task, which goes on in any case, reports that a server is too busy.
#pragma once

#include <optional>

#include "session/core.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

/// A `server_error` is reported only after `retry_policy::limit` from the first one in a row, because an operation
/// would go on trying for as long. Every other result is reported at once.
class refusals {
 public:
  bool is_news(const core& session, const error_code& error) {
    if (!is_server_refusal(error)) {
      until_.reset();
    } else if (!until_) {
      until_ = session.retry_deadline();
    }
    return !until_ || session.now() >= *until_;
  }

 private:
  std::optional<lease_clock::time_point> until_;
};

}  // namespace zkrecipes::detail
