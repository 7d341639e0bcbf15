#include "http_client.hpp"

#include <exception>
#include <memory>
#include <tuple>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace asio = boost::asio;

namespace {

constexpr auto outcome_of = asio::as_tuple(asio::use_awaitable);

asio::awaitable<void> converse_with(asio::ip::tcp::socket& socket, const std::string& request, std::string& answer) {
  auto sent = co_await asio::async_write(socket, asio::buffer(request), outcome_of);
  if (std::get<0>(sent)) co_return;
  co_await asio::async_read(socket, asio::dynamic_buffer(answer), outcome_of);
}

std::string converse(asio::io_context& io, asio::ip::tcp::socket& socket, const std::string& request) {
  std::string answer;
  bool is_over = false;
  asio::co_spawn(io, converse_with(socket, request, answer), [&is_over](std::exception_ptr error) {
    is_over = true;
    if (error) std::rethrow_exception(error);
  });
  io.restart();
  while (!is_over && io.run_one() > 0) {
  }
  return answer;
}

}  // namespace

std::string exchange(asio::io_context& io, std::uint16_t port, const std::string& request) {
  asio::ip::tcp::socket socket(io);
  socket.connect({asio::ip::address_v4::loopback(), port});
  return converse(io, socket, request);
}

std::string exchange(asio::io_context& io, const asio::ip::tcp::endpoint& server, const std::string& request) {
  asio::ip::tcp::socket socket(io);
  boost::system::error_code error;
  socket.connect(server, error);
  return error ? "" : converse(io, socket, request);
}

std::string http_get(asio::io_context& io, std::uint16_t port, const std::string& path) {
  return exchange(io, port, "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
}
