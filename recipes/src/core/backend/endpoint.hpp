#pragma once

#include <cstdint>
#include <string>

namespace zkrecipes::backend {

/// Where a server listens.
struct endpoint {
  std::string address;  ///< A host name before `world::resolve`, a numeric address after it.
  std::uint16_t port = 2181;

  friend bool operator==(const endpoint&, const endpoint&) = default;
};

/// "address:port", with brackets around an IPv6 address.
std::string to_string(const endpoint& server);

}  // namespace zkrecipes::backend
