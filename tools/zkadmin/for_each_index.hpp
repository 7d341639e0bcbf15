// Many small asynchronous tasks, a bounded number of them at a time.
#pragma once

#include <cstddef>
#include <functional>

#include <boost/asio/awaitable.hpp>

namespace zkadmin {

/// Runs task(0) ... task(count - 1), at most `width` at a time, and completes when all are done. After the first
/// exception no further tasks begin; it is thrown once the running tasks have ended. A cancellation of the caller waits
/// for the tasks, too. For an executor of one thread.
boost::asio::awaitable<void> for_each_index(std::size_t count, std::size_t width,
                                            std::function<boost::asio::awaitable<void>(std::size_t)> task);

}  // namespace zkadmin
