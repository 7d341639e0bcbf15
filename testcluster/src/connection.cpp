#include "connection.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <random>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <testcluster/error.hpp>

namespace testcluster::detail {

loopback_address::loopback_address() {
  std::random_device random;
  std::uniform_int_distribution<int> octet(1, 254);
  constexpr int tries = 1000;
  for (int i = 0; i < tries; ++i) {
    // 127.0.x.x is left out, because other programs use addresses there.
    const auto candidate = "127." + std::to_string(octet(random)) + "." + std::to_string(octet(random)) + "." +
                           std::to_string(octet(random));
    if (lease(candidate)) return;
  }
  throw error("no free loopback address found in " + std::to_string(tries) + " tries");
}

bool loopback_address::lease(const std::string& candidate) {
  descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) throw error(std::string("could not create a socket: ") + std::strerror(errno));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string key = "testcluster/" + candidate;
  std::copy(key.begin(), key.end(), name.sun_path + 1);  // the leading zero byte makes the name abstract
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + key.size());
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&name), size) != 0) {
    if (errno == EADDRINUSE) return false;
    throw error(std::string("could not lease a loopback address: ") + std::strerror(errno));
  }
  lease_ = std::move(socket);
  text_ = candidate;
  return true;
}

namespace asio = boost::asio;
using boost::system::error_code;

tcp::endpoint parse_endpoint(const std::string& text) {
  const auto colon = text.rfind(':');
  error_code bad;
  const auto host = asio::ip::make_address_v4(text.substr(0, colon), bad);
  std::uint16_t port = 0;
  if (colon != text.npos && !bad) {
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + colon + 1, end, port);
    if (parsed.ec == std::errc{} && parsed.ptr == end && port != 0) return {host, port};
  }
  throw std::invalid_argument("'" + text + "' is not an address and port such as 127.0.0.1:2181");
}

std::string to_string(const tcp::endpoint& endpoint) {
  return endpoint.address().to_string() + ":" + std::to_string(endpoint.port());
}

void close_on_exec(int descriptor) { ::fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

connection::connection(const tcp::endpoint& peer, clock::time_point deadline) : peer_(peer), deadline_(deadline) {
  error_code result = asio::error::would_block;
  socket_.open(peer.protocol());
  close_on_exec(socket_.native_handle());
  socket_.async_connect(peer, [&](error_code ec) { result = ec; });
  run("connect to", result);
  socket_.set_option(tcp::no_delay(true));
}

void connection::write(std::string_view bytes) {
  error_code result = asio::error::would_block;
  asio::async_write(socket_, asio::buffer(bytes), [&](error_code ec, std::size_t) { result = ec; });
  run("write to", result);
}

std::string connection::read(std::size_t bytes) {
  error_code result = asio::error::would_block;
  std::string data(bytes, '\0');
  asio::async_read(socket_, asio::buffer(data), [&](error_code ec, std::size_t) { result = ec; });
  run("read from", result);
  return data;
}

std::string connection::read_all(std::size_t most) {
  error_code result = asio::error::would_block;
  std::string data;
  asio::async_read(socket_, asio::dynamic_buffer(data, most + 1),
                   [&](error_code ec, std::size_t) { result = ec == asio::error::eof ? error_code{} : ec; });
  run("read from", result);
  if (data.size() > most) throw error("the answer of " + to_string(peer_) + " is too long");
  return data;
}

void connection::run(const char* what, const error_code& result) {
  io_.restart();
  io_.run_until(deadline_);
  if (!io_.stopped()) {
    error_code ignored;
    socket_.close(ignored);
    io_.run();
    throw error("could not " + std::string(what) + " " + to_string(peer_) + " in time");
  }
  if (result) throw error("could not " + std::string(what) + " " + to_string(peer_) + ": " + result.message());
}

}  // namespace testcluster::detail
