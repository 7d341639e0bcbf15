#include "backend/zookeeper/stand_in.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace zkrecipes::backend {

namespace asio = boost::asio;

/// The C client finds an address only if the host has one of its family, so the server's family is tried first.
stand_in::stand_in(const endpoint& server) {
  const bool is_v6 = server.address.find(':') != server.address.npos;
  if (!take(is_v6)) take(!is_v6);
}

bool stand_in::take(bool is_v6) {
  const asio::ip::address any =
      is_v6 ? asio::ip::address(asio::ip::address_v6::loopback()) : asio::ip::address(asio::ip::address_v4::loopback());
  asio::ip::tcp::endpoint at(any, 0);
  taken_ = ::socket(at.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto size = static_cast<socklen_t>(at.capacity());
  const bool is_bound = taken_ >= 0 && ::bind(taken_, at.data(), static_cast<socklen_t>(at.size())) == 0 &&
                        ::getsockname(taken_, at.data(), &size) == 0;
  failure_ = is_bound ? 0 : errno;
  if (is_bound) address_ = {at.address().to_string(), at.port()};
  if (!is_bound && taken_ >= 0) ::close(std::exchange(taken_, -1));
  return is_bound;
}

stand_in::~stand_in() {
  if (taken_ >= 0) ::close(taken_);
}

int stand_in::take_over(int descriptor) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) return -1;
  const bool is_replaced = ::dup3(pair[0], descriptor, O_CLOEXEC) == descriptor;
  ::close(pair[0]);
  if (is_replaced) return pair[1];
  ::close(pair[1]);
  return -1;
}

}  // namespace zkrecipes::backend
