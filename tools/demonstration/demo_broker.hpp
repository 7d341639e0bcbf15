// The broker that holds the shards of a run, and that is killed.
#pragma once

#include <memory>
#include <string>

#include "roles.hpp"

namespace demo {

class demo_broker {
 public:
  virtual ~demo_broker() = default;

  /// As lines for people call it: "Redis".
  virtual std::string name() const = 0;
  /// As the processes are told it: host:port, of several nodes with commas between them.
  virtual std::string address() const = 0;
  virtual int nodes() const noexcept = 0;
  /// SIGKILL to the node that is next in turn, which runs. Returns how lines call it: "the broker".
  virtual std::string kill_next() = 0;
  /// Starts the node that was killed last, and returns when the broker is again as it was before. Blocks.
  virtual void restore() = 0;
};

/// Starts the broker that the sources of the run need, and returns when it serves. Null: they need none.
std::unique_ptr<demo_broker> make_broker(const direction& how);

}  // namespace demo
