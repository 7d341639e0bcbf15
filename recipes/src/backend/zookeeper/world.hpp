// The real world: the C client, the system's clock and names.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>

#include <boost/asio/any_io_executor.hpp>

#include "backend/backend.hpp"

namespace zkrecipes::backend {

/// `strand` serialises everything.
std::unique_ptr<world> make_real_world(boost::asio::any_io_executor strand);

/// The source of a session's random numbers, seeded with so many words that no two sessions begin alike: GUIDs of 128 bits
/// are drawn from it, and a node is known by its GUID.
std::mt19937_64 make_generator(const std::function<std::uint32_t()>& draw);

}  // namespace zkrecipes::backend
