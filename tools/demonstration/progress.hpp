#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <zkrecipes/session.hpp>

namespace demo {

/// Runs coroutines beside each other, so that their requests share round trips. It must outlive them.
class gathering {
 public:
  explicit gathering(boost::asio::any_io_executor where);

  void add(boost::asio::awaitable<void> part);
  /// Waits until all parts have ended. \throws what one of them has thrown
  boost::asio::awaitable<void> wait();

 private:
  std::size_t pending_ = 0;
  std::exception_ptr failure_;
  boost::asio::steady_timer done_;
};

/// Counts the results while consumers work.
class progress {
 public:
  explicit progress(zkrecipes::session session);

  boost::asio::awaitable<std::uint64_t> processed();

 private:
  zkrecipes::session session_;
  std::map<std::string, std::uint64_t> counts_;  // of each folder
};

}  // namespace demo
