// The library's seam (`backend::world`), implemented on the simulated ensemble.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <zkrecipes/session.hpp>

#include "backend/world.hpp"
#include "model/ensemble.hpp"
#include "run/journal.hpp"
#include "world/broker_network.hpp"
#include "world/process.hpp"

namespace zkrecipes::simulation {

struct surroundings {
  process_ptr inside;
  ensemble* servers = nullptr;
  journal* notes = nullptr;
  std::uint64_t seed = 0;                                ///< For the random numbers that the library draws.
  std::function<void(const connection_ptr&)> connected;  ///< Called with every new connection.
  broker_network* brokers = nullptr;                     ///< Null: there are none.
};

/// The seam for one session.
std::unique_ptr<backend::world> make_world(const surroundings& where, asio::any_io_executor strand);

/// A session of the library in this process.
session make_session(const surroundings& where, session_options options);

/// The value for `session_options::hosts`.
std::string hosts(int servers);

}  // namespace zkrecipes::simulation
