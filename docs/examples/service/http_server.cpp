#include "http_server.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

namespace service {

namespace asio = boost::asio;
namespace http = boost::beast::http;

namespace {

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

void rethrow(std::exception_ptr failure) {
  if (failure) std::rethrow_exception(failure);
}

http_response plain(http::status status, std::string text) {
  http_response response(status, 11);
  response.set(http::field::content_type, "text/plain; charset=utf-8");
  response.body() = std::move(text);
  return response;
}

asio::ip::tcp::acceptor listen(asio::io_context& io, const std::string& address, std::uint16_t port) {
  try {
    return {io, {asio::ip::make_address(address), port}};
  } catch (const boost::system::system_error& failure) {
    throw std::runtime_error("HTTP can not be served at " + address + ", port " + std::to_string(port) + ": " +
                             failure.code().message() + "; give another one by [http] or --port");
  }
}

}  // namespace

http_server::http_server(asio::io_context& io, const std::string& address, std::uint16_t port, http_handler handler,
                         http_limits limits)
    : acceptor_(listen(io, address, port)),
      handler_(std::move(handler)),
      limits_(limits),
      pause_(io),
      ended_(io, asio::steady_timer::time_point::max()) {}

void http_server::start() {
  accepting_ = true;
  asio::co_spawn(acceptor_.get_executor(), accept(), rethrow);
}

asio::awaitable<void> http_server::close() {
  closing_ = true;
  acceptor_.close();
  pause_.cancel();
  std::vector<shared_connection> writing;
  for (const auto& each : connections_) {
    if (each->state == connection::idle) each->stream.close();
    if (each->state == connection::writing) writing.push_back(each);
  }
  asio::steady_timer last(acceptor_.get_executor(), limits_.last_write);
  last.async_wait([writing](auto error) {  // a connection that ended meanwhile is closed already
    for (const auto& each : writing)
      if (!error) each->stream.close();
  });
  while (accepting_ || !connections_.empty()) co_await ended_.async_wait(as_result);
}

asio::awaitable<void> http_server::accept() {
  while (!closing_) {
    auto [error, socket] = co_await acceptor_.async_accept(as_result);
    if (error) co_await pause_accepting();
    if (error || closing_ || !make_room()) continue;
    auto fresh = std::make_shared<connection>(connection{boost::beast::tcp_stream(std::move(socket))});
    connections_.insert(fresh);
    asio::co_spawn(acceptor_.get_executor(), serve(std::move(fresh)), rethrow);
  }
  accepting_ = false;
  ended_.cancel();
}

// Those that are slow keep nobody out: neither a probe nor a message.
bool http_server::make_room() {
  const auto is_there = [](const auto& each) { return each->state != connection::dropped; };
  const auto count = [&] { return static_cast<std::size_t>(std::ranges::count_if(connections_, is_there)); };
  const auto any = [](const connection&) { return true; };
  return connections_.size() < limits_.connections || count() < limits_.connections || drop_oldest(any);
}

bool http_server::make_room_for(connection& of, std::size_t bytes) {
  const auto sum = [&] {
    std::size_t all = bytes;
    for (const auto& each : connections_) all += each->state == connection::dropped ? 0 : each->bytes;
    return all;
  };
  const auto has_body = [](const connection& each) { return each.bytes > 0; };
  while (sum() > limits_.bodies) {
    if (!drop_oldest(has_body)) return false;
  }
  of.bytes = bytes;
  return true;
}

// Only those whose request is not complete are dropped.
bool http_server::drop_oldest(const std::function<bool(const connection&)>& among) {
  const auto rank = [&](const auto& each) {
    return std::pair(each->state != connection::idle || !among(*each), each->idle_since);
  };
  const auto oldest = std::ranges::min_element(connections_, {}, rank);
  if (oldest == connections_.end() || rank(*oldest).first) return false;
  (*oldest)->state = connection::dropped;
  (*oldest)->stream.close();
  return true;
}

// No descriptor or no memory is left, in the process or in the system: it lasts, so a loop without a pause would be
// busy.
asio::awaitable<void> http_server::pause_accepting() {
  if (closing_) co_return;
  pause_.expires_after(std::chrono::milliseconds(100));
  co_await pause_.async_wait(as_result);
}

asio::awaitable<void> http_server::serve(shared_connection on) {
  boost::beast::flat_buffer buffer;
  while (!closing_ && co_await serve_one(*on, buffer)) {
  }
  on->stream.close();
  connections_.erase(on);
  ended_.cancel();
}

asio::awaitable<bool> http_server::serve_one(connection& on, boost::beast::flat_buffer& buffer) {
  http::request_parser<http::string_body> parser;
  parser.body_limit(limits_.body);
  on.stream.expires_after(limits_.idle);
  auto [failure, read] = co_await http::async_read_header(on.stream, buffer, parser, as_result);
  const bool is_whole = failure || parser.is_done();
  const auto length = [&] { return static_cast<std::size_t>(parser.content_length().value_or(limits_.body)); };
  const bool has_room = is_whole || make_room_for(on, length());
  if (!is_whole && has_room) {
    auto [cut, more] = co_await http::async_read(on.stream, buffer, parser, as_result);
    failure = cut;
  }
  http_response response;
  if (!has_room) {
    response = plain(http::status::service_unavailable, "too much is being received\n");
    response.set(http::field::retry_after, "1");
    response.keep_alive(false);
  } else if (failure == http::error::body_limit) {
    response = plain(http::status::payload_too_large, "the message is too long\n");
    response.keep_alive(false);
  } else if (failure) {
    co_return false;
  } else {
    on.state = connection::answering;
    on.stream.expires_never();  // the handler has a limit of its own
    response = co_await answer(parser.get());
    response.version(parser.get().version());  // a client of 1.0 waits for the end unless it is told that there is none
    response.keep_alive(parser.get().keep_alive() && !closing_);
  }
  response.prepare_payload();
  if (parser.get().method() == http::verb::head) response.body().clear();  // the header tells the length all the same
  on.state = connection::writing;
  on.stream.expires_after(closing_ ? limits_.last_write : limits_.idle);
  auto [lost, written] = co_await http::async_write(on.stream, response, as_result);
  on.state = connection::idle;
  on.bytes = 0;
  on.idle_since = std::chrono::steady_clock::now();
  co_return !lost && response.keep_alive();
}

asio::awaitable<http_response> http_server::answer(const http_request& to) {
  try {
    co_return co_await handler_(to);
  } catch (const std::exception&) {
    co_return plain(http::status::internal_server_error, "internal error\n");
  }
}

}  // namespace service
