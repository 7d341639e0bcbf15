#include "servers/server_line.hpp"

#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include "backend/tls/tls_context.hpp"
#include "backend/world.hpp"
#include "backend/zookeeper/real_world.hpp"
#include "base/failure.hpp"
#include "base/text.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using zkrecipes::backend::tls_context;

/// The lookup is the library's: one that hangs holds no other one up, and ends with the caller's patience.
asio::awaitable<std::vector<tcp::endpoint>> resolve(const endpoint& server, error_code& error) {
  namespace backend = zkrecipes::backend;
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer done(executor, asio::steady_timer::time_point::max());
  backend::resolved_name found;
  const auto names = backend::make_real_world(executor);
  do {
    std::vector<backend::endpoint> asked{{server.host, server.port}};
    names->resolve(std::move(asked), [&](std::vector<backend::resolved_name> all) {
      found = std::move(all.front());
      done.cancel();
    });
    co_await done.async_wait(as_result);
    error = found.error;
  } while (error == asio::error::timed_out);  // the caller decides how long it waits
  std::vector<tcp::endpoint> places;
  for (const auto& each : found.addresses) places.emplace_back(asio::ip::make_address(each.address), each.port);
  if (places.empty() && !error) error = asio::error::host_not_found;
  co_return places;
}

/// TLS may end without a farewell.
template <class Stream>
asio::awaitable<void> exchange(Stream& over, std::string_view word, std::size_t most, word_answer& answer) {
  error_code error;
  std::tie(error, std::ignore) = co_await asio::async_write(over, asio::buffer(word), as_result);
  if (!error) {
    auto into = asio::dynamic_buffer(answer.text, most + 1);
    std::tie(error, std::ignore) = co_await asio::async_read(over, into, as_result);
  }
  const bool is_end = error == asio::error::eof || error == asio::ssl::error::stream_truncated;
  if (error && !is_end) answer.trouble = printable(error.message());
}

/// A server with TLS 1.3 refuses our certificate after the handshake: that is seen where the answer is read.
asio::awaitable<void> exchange_by_tls(const endpoint& server, tls_context& tls, tcp::socket socket,
                                      std::string_view word, std::size_t most, word_answer& answer) {
  std::string ignored;
  tls.refresh(ignored);
  auto made = tls.make(server.name, {server.host});
  const auto ticket = made.ticket;  // outlives the stream
  asio::ssl::stream<tcp::socket> secure(std::move(socket), made.handle.release());
  auto greeted = co_await secure.async_handshake(asio::ssl::stream_base::client, as_result);
  const auto why = zkrecipes::backend::tls_reason(std::get<0>(greeted), secure.native_handle());
  if (std::get<0>(greeted)) {
    answer.trouble = "TLS: " + printable(why.message());
  } else {
    co_await exchange(secure, word, most, answer);
  }
}

}  // namespace

asio::awaitable<std::string> connect_to(tcp::socket& socket, const endpoint& server) {
  error_code error;
  const auto places = co_await resolve(server, error);
  if (error) co_return "name lookup: " + printable(error.message());
  std::tie(error, std::ignore) = co_await asio::async_connect(socket, places, as_result);
  co_return error ? printable(error.message()) : std::string();
}

asio::awaitable<word_answer> ask_word(const endpoint& server, std::string_view word, std::size_t most,
                                      tls_context_ptr tls, std::function<void()> connected) {
  tcp::socket socket(co_await asio::this_coro::executor);
  word_answer answer;
  answer.trouble = co_await connect_to(socket, server);
  if (!answer.trouble.empty()) co_return answer;
  if (connected) connected();
  if (tls) {
    co_await exchange_by_tls(server, *tls, std::move(socket), word, most, answer);
  } else {
    co_await exchange(socket, word, most, answer);
  }
  co_return answer;
}

asio::awaitable<word_answer> ask_word_in_time(endpoint server, std::string_view word, std::size_t most,
                                              tls_context_ptr tls, std::chrono::steady_clock::time_point limit) {
  auto exchange = ask_word(server, word, most, std::move(tls));
  auto answer = co_await until(limit, std::move(exchange));
  if (!answer) co_return word_answer{"no answer in time"};
  if (answer->trouble.empty() && answer->text.size() > most) answer->trouble = "its answer is too long";
  co_return std::move(*answer);
}

tls_context_ptr secure_connections(const settings& wanted) {
  if (!wanted.tls) return nullptr;
  try {
    return std::make_shared<zkrecipes::backend::tls_context>(*wanted.tls);
  } catch (const std::invalid_argument& error) {
    throw failure(exit_code::usage, error.what());
  }
}

}  // namespace zkadmin
