// Asks the servers themselves, each over a connection of its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "cluster/status.hpp"
#include "servers/server_line.hpp"
#include "settings/settings.hpp"

namespace zkadmin {

/// The status of a server that has not been asked yet.
server_status not_asked(const endpoint& server);
std::vector<server_status> not_asked(const std::vector<endpoint>& servers);

/// Sends `srvr` to servers and learns how long their answers take. An answer is overdue when it takes four times as
/// long as the last answer of this server, or as the slowest of the others if this server has not answered yet. If the
/// connection took longer than that answer, four times its time counts. An answer is never overdue before a tenth of
/// the limit. For an executor of one thread.
class prober : public std::enable_shared_from_this<prober> {
 public:
  using hook = std::function<void(std::size_t which, server_status seen)>;

  /// `limit` is the longest time to wait for an answer. `tls` null: in plain text.
  prober(const boost::asio::any_io_executor& executor, std::vector<endpoint> servers, std::chrono::milliseconds limit,
         tls_context_ptr tls = nullptr);

  /// Asks one server, and reports the result. If the answer is overdue, reports silence first.
  boost::asio::awaitable<void> ask(std::size_t which, hook report);

  /// Asks all servers at the same time, and completes when each has been reported once. Overdue answers are reported
  /// later. A server that an earlier round still waits for is not asked again.
  boost::asio::awaitable<void> ask_all(hook report);

 private:
  using clock = std::chrono::steady_clock;
  struct measured {
    explicit measured(const boost::asio::any_io_executor& executor) : timer(executor) {}
    boost::asio::steady_timer timer;           ///< The timer of `watch_clock`.
    std::optional<clock::duration> connected;  ///< How long the last connection took to establish.
    std::optional<clock::duration> answered;   ///< How long the last answer took, counted from the start of `ask`.
    bool is_asked = false;                     ///< By a round that goes on: two would share the timer.
  };

  boost::asio::awaitable<void> watch_clock(std::size_t which, clock::time_point begin, const hook& report);
  void learn(std::size_t which, clock::duration took);
  std::chrono::milliseconds time_limit_of(std::size_t which) const;
  server_status silent(std::size_t which, std::chrono::milliseconds since) const;

  std::vector<endpoint> servers_;
  std::chrono::milliseconds limit_;
  tls_context_ptr tls_;
  std::deque<measured> measured_;
};

/// For the servers and connections of these settings. Throws `failure` (usage) if a file of TLS is of no use.
std::shared_ptr<prober> make_prober(const boost::asio::any_io_executor& executor, const settings& wanted,
                                    std::chrono::milliseconds limit);

// The four-letter word `srvr`, as ZooKeeper 3.5 to 3.9 answers it.

/// A server's answer is a few hundred bytes; more than this is not read.
inline constexpr std::size_t longest_answer = 16 * 1024;

/// Reads what it can from any answer: never fails, whatever the text.
server_status parse_srvr(std::string server, std::string_view answer);

}  // namespace zkadmin
