// A candidate in a separate process, which can be killed.
#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

namespace bench {

/// Campaigns at `path`. When it leads, it prints how many threads that added to the process; it ends when it reads a
/// line.
void stand_for(const std::string& hosts, const std::string& path);

/// Waits until a leader and one successor stand in the line at `path`.
boost::asio::awaitable<void> until_two_stand(zkrecipes::session zk, std::string path);

}  // namespace bench
