#pragma once

#include <testcluster/error.hpp>

namespace testcluster::detail {

/// A server does not know the session that it was asked to take up again.
class no_such_session : public error {
 public:
  using error::error;
};

}  // namespace testcluster::detail
