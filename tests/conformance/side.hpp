// Where a script is played: the simulated ensemble or the real one.
#pragma once

#include "backend/backend.hpp"

#include <functional>
#include <memory>

namespace zkrecipes::conformance {

class side {
 public:
  virtual ~side() = default;

  /// Number of the server that leads, from 0.
  virtual int leader() const = 0;
  /// To the server with this number, from 0.
  virtual std::unique_ptr<backend::link> connect(int server, backend::link_options options,
                                                 backend::link_listener& listener) = 0;
  /// Ends a session as if it had timed out.
  virtual void expire(std::int64_t session) = 0;
  /// Lets things happen until the condition holds, or for as long as this side is worth waiting for.
  virtual bool run_until(const std::function<bool()>& condition) = 0;
};

/// A new simulated ensemble of three with the given leader. It draws its delays by the seed.
std::unique_ptr<side> simulated(int leader, std::uint64_t seed);

/// The real one, started with the first call. What is played there at the same time shares it.
side& real();

}  // namespace zkrecipes::conformance
