// How the C client gets a connection that we have made.
#pragma once

#include "backend/endpoint.hpp"

namespace zkrecipes::backend {

/// The C client opens its socket itself, and connects it to an address. For a secure connection it gets the address of
/// this: a loopback address that is taken by a socket that never listens. So the attempt reaches nobody, and no process
/// can wait there. Before the C client has looked at the outcome, `take_over` puts one end of a pair of Unix sockets
/// in the place of its socket. To the C client that is a socket which has connected.
class stand_in {
 public:
  /// Takes an address of the family that `server` has.
  explicit stand_in(const endpoint& server);
  ~stand_in();
  stand_in(const stand_in&) = delete;
  stand_in& operator=(const stand_in&) = delete;

  /// False: no address could be taken, as `failure` says.
  bool is_ready() const noexcept { return address_.port != 0; }
  /// An `errno`, such as EADDRNOTAVAIL without a loopback interface.
  int failure() const noexcept { return failure_; }
  const endpoint& address() const noexcept { return address_; }

  /// Replaces this descriptor of the C client. Returns the other end of the pair, which is the caller's, or -1.
  static int take_over(int descriptor);

 private:
  bool take(bool is_v6);

  int taken_ = -1;
  int failure_ = 0;
  endpoint address_{"", 0};
};

}  // namespace zkrecipes::backend
