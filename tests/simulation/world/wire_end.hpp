// One end of a connection between a client and a broker.
#pragma once

#include <string_view>

#include <zkrecipes/error.hpp>

namespace zkrecipes::simulation {

/// It is called when something arrives at this end.
class wire_end {
 public:
  /// The broker has accepted the connection. At the client's end only, before anything else but `lose`.
  virtual void connected() {}
  virtual void receive(std::string_view bytes) = 0;
  /// The other end has received bytes of ours.
  virtual void drained() {}
  /// The connection is over, as far as this end can tell. Nothing is called after this.
  virtual void lose(const error_code& why) = 0;

 protected:
  ~wire_end() = default;
};

}  // namespace zkrecipes::simulation
