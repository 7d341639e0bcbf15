// Asking the servers themselves, each over a connection of its own.
#pragma once

#include "cluster/status.hpp"
#include "settings/settings.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace zkadmin {

/// A server as it is before it was asked.
server_status not_asked(const endpoint& server);
std::vector<server_status> not_asked(const std::vector<endpoint>& servers);

/// Sends `srvr` to servers and learns how long their answers take. An answer is overdue when it takes four
/// times as long as the last one of this server, or as the slowest of the others if this one has not answered
/// yet, but not before a tenth of the limit. For an executor of one thread.
class prober : public std::enable_shared_from_this<prober> {
 public:
  using hook = std::function<void(std::size_t which, server_status seen)>;

  /// After `limit` an answer is waited for no longer.
  prober(const boost::asio::any_io_executor& executor, std::vector<endpoint> servers,
         std::chrono::milliseconds limit);

  /// Asks one server, and tells what came of it. An answer that is overdue is told as silence first.
  boost::asio::awaitable<void> ask(std::size_t which, hook tell);

  /// Asks all at the same time, and completes when each has been told of once. What is overdue then is told
  /// of later.
  boost::asio::awaitable<void> ask_all(hook tell);

 private:
  using clock = std::chrono::steady_clock;
  struct measured {
    explicit measured(const boost::asio::any_io_executor& executor) : timer(executor) {}
    boost::asio::steady_timer timer;           ///< Of who watches the clock for it.
    std::optional<clock::duration> connected;  ///< How long the last connection took,
    std::optional<clock::duration> answered;   ///< and the last answer, from the beginning.
  };

  boost::asio::awaitable<void> watch_clock(std::size_t which, clock::time_point begin, const hook& tell);
  void learn(std::size_t which, clock::duration took);
  std::chrono::milliseconds patience_with(std::size_t which) const;
  server_status silent(std::size_t which, std::chrono::milliseconds since) const;

  std::vector<endpoint> servers_;
  std::chrono::milliseconds limit_;
  std::deque<measured> measured_;
};

}  // namespace zkadmin
