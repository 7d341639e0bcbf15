// A server that answers `srvr` as a test wants it, on a port of its own.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "settings/settings.hpp"

/// A leader's answer to `srvr`.
inline constexpr const char* leader_text =
    "Zookeeper version: 3.8.0-x, built on x\nLatency min/avg/max: 0/0.5/2\nReceived: 1\nSent: "
    "1\nConnections: 1\n"
    "Outstanding: 0\nZxid: 0x100000001\nMode: leader\nNode count: 5\n";

/// Handles one connection.
using conversation = std::function<boost::asio::awaitable<void>(boost::asio::ip::tcp::socket)>;

class fake_server {
 public:
  fake_server(boost::asio::io_context& io, conversation talk);

  zkadmin::endpoint where() const;

  /// Reads the request, sends this and closes.
  static conversation answering(std::string text);
  /// Reads the request, waits for this time, sends this and closes.
  static conversation answering_after(std::chrono::milliseconds delay, std::string text);
  /// Reads, and never answers.
  static conversation silent();
  /// Sends without end.
  static conversation endless();
  /// Sends this, and then blanks one by one, without end.
  static conversation dripping(std::string text);
  static conversation closing();

 private:
  boost::asio::awaitable<void> accept_all();

  boost::asio::ip::tcp::acceptor acceptor_;
  conversation talk_;
};
