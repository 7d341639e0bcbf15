#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace testcluster::detail {

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
