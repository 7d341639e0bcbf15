// A server that answers `srvr` as a test wants it, on a port of its own.
#pragma once

#include "settings/settings.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <functional>
#include <string>

/// What it does with each connection.
using conversation = std::function<boost::asio::awaitable<void>(boost::asio::ip::tcp::socket)>;

class fake_server {
 public:
  fake_server(boost::asio::io_context& io, conversation talk);

  zkadmin::endpoint where() const;

  /// Reads the request, sends this and closes.
  static conversation answering(std::string text);
  /// Reads what comes and never says anything.
  static conversation silent();
  /// Sends without end.
  static conversation endless();
  static conversation closing();

 private:
  boost::asio::awaitable<void> accept_all();

  boost::asio::ip::tcp::acceptor acceptor_;
  conversation talk_;
};
