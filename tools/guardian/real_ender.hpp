#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "session_ender.hpp"

namespace guardian {

/// Ends sessions on the real ensemble.
session_ender make_real_ender(const boost::asio::any_io_executor& executor);

}  // namespace guardian
