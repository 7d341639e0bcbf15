#include "fake_server.hpp"

#include <array>
#include <memory>
#include <tuple>

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include "base/tasks.hpp"

namespace asio = boost::asio;
using asio::ip::tcp;
using zkadmin::as_result;

namespace {

asio::awaitable<void> answer(tcp::socket socket, std::string text, std::chrono::milliseconds delay) {
  std::array<char, 4> request{};
  co_await asio::async_read(socket, asio::buffer(request), as_result);
  if (std::string(request.data(), request.size()) != "srvr") co_return;
  asio::steady_timer pause(socket.get_executor(), delay);
  co_await pause.async_wait(as_result);
  co_await asio::async_write(socket, asio::buffer(text), as_result);
}

asio::awaitable<void> listen_only(tcp::socket socket) {
  std::array<char, 64> sink{};
  for (;;) {
    auto result = co_await socket.async_read_some(asio::buffer(sink), as_result);
    if (std::get<0>(result)) co_return;
  }
}

asio::awaitable<void> flood(tcp::socket socket) {
  const std::string block(4096, 'x');
  for (;;) {
    auto result = co_await asio::async_write(socket, asio::buffer(block), as_result);
    if (std::get<0>(result)) co_return;
  }
}

asio::awaitable<void> drip_on(tcp::socket socket, std::string text) {
  asio::steady_timer pause(socket.get_executor());
  for (;;) {
    auto result = co_await asio::async_write(socket, asio::buffer(text), as_result);
    if (std::get<0>(result)) co_return;
    text = " ";
    pause.expires_after(std::chrono::milliseconds(100));
    co_await pause.async_wait(as_result);
  }
}

asio::awaitable<void> hang_up(tcp::socket socket) {
  socket.close();
  co_return;
}

}  // namespace

fake_server::fake_server(asio::io_context& io, conversation talk)
    : acceptor_(io, {asio::ip::make_address("127.0.0.1"), 0}), talk_(std::move(talk)) {
  asio::co_spawn(io, accept_all(), asio::detached);
}

zkadmin::endpoint fake_server::where() const {
  const auto port = acceptor_.local_endpoint().port();
  return {"127.0.0.1", port, "127.0.0.1:" + std::to_string(port)};
}

asio::awaitable<void> fake_server::accept_all() {
  for (;;) {
    auto accepted = co_await acceptor_.async_accept(as_result);
    if (std::get<0>(accepted)) co_return;
    asio::co_spawn(acceptor_.get_executor(), talk_(std::move(std::get<1>(accepted))), asio::detached);
  }
}

conversation fake_server::answering(std::string text) {
  return answering_after(std::chrono::milliseconds(0), std::move(text));
}
conversation fake_server::answering_after(std::chrono::milliseconds delay, std::string text) {
  return [delay, text](tcp::socket socket) { return answer(std::move(socket), text, delay); };
}
conversation fake_server::silent() { return listen_only; }
conversation fake_server::endless() { return flood; }
conversation fake_server::dripping(std::string text) {
  return [text](tcp::socket socket) { return drip_on(std::move(socket), text); };
}
conversation fake_server::closing() { return hang_up; }
