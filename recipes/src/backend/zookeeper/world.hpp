// The real world: the C client, the system's clock and names.
#pragma once

#include <memory>

#include <boost/asio/any_io_executor.hpp>

#include "backend/backend.hpp"

namespace zkrecipes::backend {

/// `strand` serialises everything.
std::unique_ptr<world> make_real_world(boost::asio::any_io_executor strand);

}  // namespace zkrecipes::backend
