// The calls of the system by which this process takes an address, connects to it and gives it back.
#include <cerrno>

#include <dlfcn.h>
#include <netinet/in.h>
#include <unistd.h>

#include "tls/intruder.hpp"

namespace zkrecipes::test {

namespace {

thread_local shadowing* present = nullptr;

bool is_loopback(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr == htonl(INADDR_LOOPBACK);
  }
  return address->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

in_port_t port_of(const sockaddr* address) {
  return address->sa_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(address)->sin6_port
                                        : reinterpret_cast<const sockaddr_in*>(address)->sin_port;
}

/// The function of this name that comes after the one in this file.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

shadowing::shadowing(intruder& by, std::uint64_t strikes) : by_(by), strikes_(strikes) { present = this; }

shadowing::~shadowing() { present = nullptr; }

void shadowing::on_bound(int descriptor, const sockaddr* asked_for) {
  if (!is_loopback(asked_for) || port_of(asked_for) != 0) return;
  socklen_t size = sizeof address_;
  auto* address = reinterpret_cast<sockaddr*>(&address_);
  if (::getsockname(descriptor, address, &size) != 0) return;
  held_ = descriptor;
  by_.lead_to(address);
  if (by_.await_strikes(strikes_)) ++addresses_;
}

void shadowing::on_connect(const sockaddr* to) {
  const auto* held = reinterpret_cast<const sockaddr*>(&address_);
  if (held_ < 0 || to->sa_family != held->sa_family || !is_loopback(to) || port_of(to) != port_of(held)) return;
  if (by_.await_strikes(strikes_)) ++attempts_;
}

void shadowing::before_close(int descriptor) {
  if (descriptor != held_) return;
  by_.let_go();
  held_ = -1;
}

}  // namespace zkrecipes::test

// The linker takes these for the whole program, the C client included.

int bind(int descriptor, const sockaddr* address, socklen_t size) noexcept {
  static const auto original = zkrecipes::test::next<int(int, const sockaddr*, socklen_t)>("bind");
  const int result = original(descriptor, address, size);
  if (result == 0 && zkrecipes::test::present) zkrecipes::test::present->on_bound(descriptor, address);
  return result;
}

int connect(int descriptor, const sockaddr* address, socklen_t size) {
  static const auto original = zkrecipes::test::next<int(int, const sockaddr*, socklen_t)>("connect");
  const int result = original(descriptor, address, size);
  const int failure = errno;
  if (zkrecipes::test::present) zkrecipes::test::present->on_connect(address);
  errno = failure;
  return result;
}

int close(int descriptor) {
  static const auto original = zkrecipes::test::next<int(int)>("close");
  if (zkrecipes::test::present) zkrecipes::test::present->before_close(descriptor);
  return original(descriptor);
}
