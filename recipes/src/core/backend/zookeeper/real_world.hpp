// The real world: the C client, the system's clock and name resolution.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>

#include <boost/asio/any_io_executor.hpp>

#include "backend/world.hpp"

namespace zkrecipes::backend {

/// The generator of a session's random numbers. It is seeded with 256 random bits, so that no two sessions draw the
/// same numbers: GUIDs of 128 bits are drawn from it, and a node is recognised by its GUID.
std::mt19937_64 make_generator(const std::function<std::uint32_t()>& draw);

/// Everything runs on `strand`.
std::unique_ptr<world> make_real_world(boost::asio::any_io_executor strand);

}  // namespace zkrecipes::backend
