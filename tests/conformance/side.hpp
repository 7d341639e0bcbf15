// Where a script is played: the simulated ensemble or the real one.
#pragma once

#include <functional>
#include <memory>

#include "backend/world.hpp"

namespace zkrecipes::conformance {

class side {
 public:
  virtual ~side() = default;

  /// Number of the server that leads, from 0.
  virtual int leader() const = 0;
  /// Connects to the server with this number, from 0.
  virtual std::unique_ptr<backend::link> connect(int server, backend::link_options options,
                                                 backend::link_listener& listener) = 0;
  /// Ends a session as if it had timed out.
  virtual void expire(std::int64_t session) = 0;
  /// Runs this side until the condition holds. False if it does not hold in time: 60 virtual seconds on the simulated
  /// side, 20 s on the real one.
  virtual bool run_until(const std::function<bool()>& condition) = 0;
};

/// A new simulated ensemble of three servers with the given leader. The seed decides its delays.
std::unique_ptr<side> simulated(int leader, std::uint64_t seed);

/// The real ensemble, started by the first call. All plays share it.
side& real();

}  // namespace zkrecipes::conformance
