#include "backend/link.hpp"

#include <cerrno>

#include <sys/socket.h>
#include <unistd.h>

namespace zkrecipes::backend {

error_code open_tcp_socket(boost::asio::ip::tcp::socket& socket, const boost::asio::ip::tcp& protocol) {
  const int descriptor = ::socket(protocol.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return {errno, boost::system::system_category()};
  error_code failure;
  socket.assign(protocol, descriptor, failure);
  if (failure) ::close(descriptor);
  if (!failure) socket.set_option(boost::asio::ip::tcp::no_delay(true), failure);
  return failure;
}

std::string to_string(const endpoint& server) {
  bool v6 = server.address.find(':') != std::string::npos;
  return (v6 ? '[' + server.address + ']' : server.address) + ':' + std::to_string(server.port);
}

}  // namespace zkrecipes::backend
