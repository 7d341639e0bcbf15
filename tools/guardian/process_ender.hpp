#pragma once

#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "session_ender.hpp"

namespace guardian {

/// Ends sessions in other processes, one for each user, which are there while there is something to end. `program`:
/// this one.
session_ender make_process_ender(const boost::asio::any_io_executor& executor, std::string program);

}  // namespace guardian
