// A peer's program that works off a queue of its own.
#pragma once

#include <string>

#include "parts.hpp"
#include "peers.hpp"

namespace bench {

class delivery_peer {
 public:
  delivery_peer(const std::string& name, const plan& what, const std::string& hosts);
  ~delivery_peer();
  delivery_peer(const delivery_peer&) = delete;
  delivery_peer& operator=(const delivery_peer&) = delete;

  /// Fills the queue with this many messages and works them off; returns the messages a second of the latter.
  double round(int count);

 private:
  peer program_;
};

}  // namespace bench
