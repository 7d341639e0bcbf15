// How sockets of TCP are opened.
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include <zkrecipes/error.hpp>

namespace zkrecipes::backend {

/// Opens a socket that no child process inherits, unlike Asio's, and that sends each write at once. Errors: those of
/// the system.
error_code open_tcp_socket(boost::asio::ip::tcp::socket& socket, const boost::asio::ip::tcp& protocol);

}  // namespace zkrecipes::backend
