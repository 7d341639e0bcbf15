#pragma once

#include <cstdint>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

namespace stranger {

/// Writes a line under /report, one process at a time. Returns the token of the lock under which it was written.
boost::asio::awaitable<std::int64_t> write_line(zkrecipes::session zk, std::string line);

}  // namespace stranger
