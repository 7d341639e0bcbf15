// Connections to one server, and the four-letter words.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/tasks.hpp"
#include "settings/settings.hpp"

namespace zkrecipes::backend {
class tls_context;
}

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

}  // namespace zkadmin
