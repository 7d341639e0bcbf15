#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "descriptor.hpp"

namespace testcluster::detail {

/// A random address of 127.0.0.0/8 that no other user of this class has, in any process. The lease is an abstract unix
/// socket named after the address: binding it is atomic, and the kernel releases it however the holder ends. On an
/// address of its own every port is free, so there is no search for a free port and no race for it.
class loopback_address {
 public:
  loopback_address();
  const std::string& text() const { return text_; }

 private:
  bool lease(const std::string& candidate);
  std::string text_;
  descriptor lease_;
};

using clock = std::chrono::steady_clock;
using boost::asio::ip::tcp;

/// "127.0.0.1:2181" as an endpoint. Throws std::invalid_argument for anything else.
tcp::endpoint parse_endpoint(const std::string& text);
std::string to_string(const tcp::endpoint& endpoint);

/// To be called for every socket that Asio gives us, because Asio opens sockets without CLOEXEC.
void close_on_exec(int descriptor);

/// A blocking TCP connection. Every operation ends at the deadline at the latest, and throws testcluster::error if it
/// fails.
class connection {
 public:
  connection(const tcp::endpoint& peer, clock::time_point deadline);
  void write(std::string_view bytes);
  std::string read(std::size_t bytes);
  /// What comes until the peer ends the connection. More than `most` bytes are an error.
  std::string read_all(std::size_t most);
  void set_deadline(clock::time_point deadline) { deadline_ = deadline; }

 private:
  void run(const char* what, const boost::system::error_code& result);
  boost::asio::io_context io_;
  tcp::socket socket_{io_};
  tcp::endpoint peer_;
  clock::time_point deadline_;
};

}  // namespace testcluster::detail
