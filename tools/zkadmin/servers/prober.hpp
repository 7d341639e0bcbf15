// Asks the servers themselves, each over a connection of its own: four-letter words, and how long the answers take.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/tasks.hpp"
#include "cluster/status.hpp"
#include "settings/settings.hpp"

namespace zkrecipes::backend {

// Connections to one server, and the four-letter words.

class tls_context;

}  // namespace zkrecipes::backend

namespace zkadmin {

/// Null: plain text.
using tls_context_ptr = std::shared_ptr<zkrecipes::backend::tls_context>;

/// What connections by TLS need; null if the settings ask for none. Throws `failure` (usage) if a file is of no use.
tls_context_ptr secure_connections(const settings& wanted);

/// Connects. Returns why that failed, made safe for a terminal; empty: it is connected.
boost::asio::awaitable<std::string> connect_to(boost::asio::ip::tcp::socket& socket, const endpoint& server);

struct word_answer {
  std::string trouble{};  ///< Why there is none; empty: there is one.
  std::string text{};     ///< One byte longer than the most: it was longer.
};

/// Sends a four-letter word, and reads what comes until the server closes the connection. Reads at most `most` bytes
/// and one more. With `tls` it speaks TLS. Has no time limit. Calls `connected` once there is a connection.
boost::asio::awaitable<word_answer> ask_word(const endpoint& server, std::string_view word, std::size_t most,
                                             tls_context_ptr tls, std::function<void()> connected = {});

/// The same until a moment. An answer that is longer than the most, or that has not come by then, is its trouble.
boost::asio::awaitable<word_answer> ask_word_in_time(endpoint server, std::string_view word, std::size_t most,
                                                     tls_context_ptr tls, std::chrono::steady_clock::time_point limit);

/// What the task returns; nothing if it has not ended by then.
template <class Result>
boost::asio::awaitable<std::optional<Result>> until(std::chrono::steady_clock::time_point limit,
                                                    boost::asio::awaitable<Result> task) {
  using namespace boost::asio::experimental::awaitable_operators;
  boost::asio::steady_timer clock(co_await boost::asio::this_coro::executor, limit);
  auto tick = clock.async_wait(boost::asio::use_awaitable);
  auto result = co_await (std::move(task) || std::move(tick));
  if (result.index() == 1) co_return std::nullopt;
  co_return std::optional<Result>(std::get<0>(std::move(result)));
}

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
