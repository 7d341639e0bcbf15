// Passes connections on to a server, keeps every byte, and counts round trips.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace zkrecipes::test {

namespace asio = boost::asio;

class captured_stream {
 public:
  /// `server` is "address:port".
  captured_stream(asio::io_context& io, const std::string& server)
      : acceptor_(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)), seen_(std::make_shared<record>()) {
    const auto colon = server.find(':');
    server_ = {asio::ip::make_address(server.substr(0, colon)),
               static_cast<std::uint16_t>(std::stoi(server.substr(colon + 1)))};
    asio::co_spawn(io, accept(), asio::detached);
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()); }
  const std::string& bytes() const noexcept { return seen_->bytes; }
  /// How often the client has begun to send after the server had sent something.
  std::size_t round_trips() const noexcept { return seen_->round_trips; }
  void stop() { acceptor_.close(); }

 private:
  using tcp = asio::ip::tcp;
  using socket_ptr = std::shared_ptr<tcp::socket>;
  struct record {
    void note(const char* from, std::size_t size, bool by_client) {
      bytes.append(from, size);
      round_trips += by_client && !is_clients_turn;
      is_clients_turn = by_client;
    }
    std::string bytes;
    std::size_t round_trips = 0;
    bool is_clients_turn = false;
  };

  asio::awaitable<void> accept() {
    auto executor = acceptor_.get_executor();
    for (;;) {
      auto accepted = co_await acceptor_.async_accept(asio::as_tuple(asio::use_awaitable));
      if (std::get<0>(accepted)) co_return;
      auto client = std::make_shared<tcp::socket>(std::move(std::get<1>(accepted)));
      auto server = std::make_shared<tcp::socket>(executor);
      server->connect(server_);
      asio::co_spawn(executor, pass(client, server, seen_, true), asio::detached);
      asio::co_spawn(executor, pass(server, client, seen_, false), asio::detached);
    }
  }

  static asio::awaitable<void> pass(socket_ptr from, socket_ptr to, std::shared_ptr<record> kept, bool by_client) {
    std::array<char, 4096> buffer;
    for (;;) {
      auto read = co_await from->async_read_some(asio::buffer(buffer), asio::as_tuple(asio::use_awaitable));
      if (std::get<0>(read)) break;
      if (!by_client) co_await let_client_finish();
      kept->note(buffer.data(), std::get<1>(read), by_client);
      co_await asio::async_write(*to, asio::buffer(buffer, std::get<1>(read)), asio::as_tuple(asio::use_awaitable));
    }
    boost::system::error_code ignored;
    to->shutdown(tcp::socket::shutdown_send, ignored);
  }

  /// An answer waits until the client, which runs in this thread, has sent all that it sends of itself: else a server
  /// that answers the first of two requests while this process has no processor makes two round trips of one.
  static asio::awaitable<void> let_client_finish() {
    for (int turn = 0; turn < 100; ++turn) co_await asio::post(asio::use_awaitable);
  }

  tcp::acceptor acceptor_;
  tcp::endpoint server_;
  std::shared_ptr<record> seen_;
};

}  // namespace zkrecipes::test
