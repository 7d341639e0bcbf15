#include "loopback_address.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <random>

#include <sys/socket.h>
#include <sys/un.h>

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

}  // namespace testcluster::detail
