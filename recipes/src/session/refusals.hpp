// When a server's refusals are to be told by what goes on all the same.
#pragma once

#include <optional>

#include "session/core.hpp"

namespace zkrecipes::detail {

/// A server that is too busy is no news for as long as an operation would go on trying: `retry_policy::limit`, from the
/// first refusal in a row.
class refusals {
 public:
  bool is_news(const core& session, const error_code& error) {
    if (error != errc::server_error) {
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
