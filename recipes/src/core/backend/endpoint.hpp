#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/asio/ip/tcp.hpp>

#include <zkrecipes/error.hpp>

namespace zkrecipes::backend {

// How sockets of TCP are opened.

/// Opens a socket that no child process inherits, unlike Asio's, and that sends each write at once. Errors: those of
/// the system.
error_code open_tcp_socket(boost::asio::ip::tcp::socket& socket, const boost::asio::ip::tcp& protocol);

/// Where a server listens.
struct endpoint {
  std::string address;  ///< A host name before `world::resolve`, a numeric address after it.
  std::uint16_t port = 2181;

  friend bool operator==(const endpoint&, const endpoint&) = default;
};

/// "address:port", with brackets around an IPv6 address.
std::string to_string(const endpoint& server);

/// One host name and its numeric addresses. No address: it could not be resolved, for the reason that the system gave;
/// `timed_out`: it gives no answer.
struct resolved_name {
  endpoint name;
  std::vector<endpoint> addresses;
  error_code error{};
};

}  // namespace zkrecipes::backend
