// Sends bytes over a TCP connection and reads what comes back, as a scraper does.
#pragma once

#include <cstdint>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

/// All that comes until the server closes the connection. Runs the context meanwhile. An empty text: nothing came.
std::string exchange(boost::asio::io_context& io, std::uint16_t port, const std::string& request);
/// The same at another address. An empty text also if the connection is refused.
std::string exchange(boost::asio::io_context& io, const boost::asio::ip::tcp::endpoint& server,
                     const std::string& request);

/// Sends `GET path`, and returns what is answered.
std::string http_get(boost::asio::io_context& io, std::uint16_t port, const std::string& path);
