#pragma once

#include <stdexcept>

/// Ensembles of real ZooKeeper servers on one machine, with faults on demand, for tests.
namespace testcluster {

/// Any failure of a cluster. The message says what went wrong and what to do about it. Unusable arguments are reported
/// as std::invalid_argument instead.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace testcluster
