// The library's seam, on the simulated ensemble.
#pragma once

#include "backend/backend.hpp"
#include "model/ensemble.hpp"
#include "run/journal.hpp"
#include "world/process.hpp"

#include <zkrecipes/session.hpp>

#include <functional>
#include <memory>
#include <string>

namespace zkrecipes::simulation {

struct surroundings {
  process_ptr inside;
  ensemble* servers = nullptr;
  journal* notes = nullptr;
  std::uint64_t seed = 0;                                ///< Of what the library draws.
  std::function<void(const connection_ptr&)> connected;  ///< Hears of every new connection.
};

/// The seam itself.
std::unique_ptr<backend::world> make_world(const surroundings& where, asio::any_io_executor strand);

/// A session of the library in this process.
session make_session(const surroundings& where, session_options options);

/// What `session_options::hosts` has to be.
std::string hosts(int servers);

}  // namespace zkrecipes::simulation
