#include "cluster/server_line.hpp"

#include <memory>
#include <tuple>

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include "backend/tls/tls_context.hpp"
#include "backend/tls/tls_reason.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using zkrecipes::backend::tls_context;
using endpoints = tcp::resolver::results_type;

// The state of a name lookup. A lookup can not be cancelled: it goes on in the background, with this state, after the
// caller has stopped waiting.
struct lookup {
  explicit lookup(const asio::any_io_executor& executor)
      : resolver(executor), done(executor, asio::steady_timer::time_point::max()) {}
  tcp::resolver resolver;
  asio::steady_timer done;
  error_code error = asio::error::would_block;
  endpoints found;
};

asio::awaitable<endpoints> resolve(const endpoint& server, error_code& error) {
  const auto executor = co_await asio::this_coro::executor;
  error = {};
  if (const auto address = asio::ip::make_address(server.host, error); !error)
    co_return endpoints::create(tcp::endpoint(address, server.port), server.host, std::to_string(server.port));
  const auto shared = std::make_shared<lookup>(executor);
  const auto keep = [shared](error_code outcome, endpoints found) {
    shared->error = outcome;
    shared->found = std::move(found);
    shared->done.cancel();
  };
  shared->resolver.async_resolve(server.host, std::to_string(server.port), tcp::resolver::numeric_service, keep);
  co_await shared->done.async_wait(as_result);
  shared->resolver.cancel();  // A lookup that has not begun is not needed any more.
  error = shared->error;
  co_return shared->found;
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
  const endpoints places = co_await resolve(server, error);
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

}  // namespace zkadmin
