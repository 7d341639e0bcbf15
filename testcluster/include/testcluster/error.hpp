#pragma once

#include <stdexcept>

namespace testcluster {

/// Anything that goes wrong while a cluster runs. The message says what, and what to do about it.
/// Unusable arguments are reported as std::invalid_argument instead.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace testcluster
