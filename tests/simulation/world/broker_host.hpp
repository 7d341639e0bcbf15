// A broker that clients connect to.
#pragma once

#include <memory>

namespace zkrecipes::simulation {

class broker_wire;

class broker_host {
 public:
  /// A client has connected. The broker attaches its end to the wire, or closes it.
  virtual void accept(const std::shared_ptr<broker_wire>& over) = 0;

 protected:
  ~broker_host() = default;
};

}  // namespace zkrecipes::simulation
