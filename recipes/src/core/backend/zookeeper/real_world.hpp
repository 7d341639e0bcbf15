// The real world: the C client, the system's clock and name resolution.
#pragma once

#include <memory>

#include <boost/asio/any_io_executor.hpp>

#include "backend/world.hpp"

namespace zkrecipes::backend {

/// Everything runs on `strand`.
std::unique_ptr<world> make_real_world(boost::asio::any_io_executor strand);

}  // namespace zkrecipes::backend
