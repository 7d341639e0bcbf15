#include "support/scripted_server.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/endian/buffers.hpp>
#include <boost/endian/conversion.hpp>

namespace zkrecipes::test {

using asio::ip::tcp;

namespace {

std::string big(std::int32_t value) {
  boost::endian::big_int32_buf_t bytes(value);
  return {reinterpret_cast<const char*>(bytes.data()), 4};
}

std::string big(std::int64_t value) {
  boost::endian::big_int64_buf_t bytes(value);
  return {reinterpret_cast<const char*>(bytes.data()), 8};
}

std::int32_t int32_at(const std::string& bytes, std::size_t at) {
  return boost::endian::load_big_s32(reinterpret_cast<const unsigned char*>(bytes.data()) + at);
}

std::string framed(const std::string& body) { return big(static_cast<std::int32_t>(body.size())) + body; }

std::string answer_of(std::int32_t xid, std::int32_t error) { return big(xid) + big(std::int64_t{1}) + big(error); }

/// The answer to any request but a transaction: zeros, which are an empty text, or none of something, and a Stat.
std::string plain_answer(std::int32_t xid, std::int32_t error) {
  return answer_of(xid, error) + (error ? std::string() : std::string(72, '\0'));
}

}  // namespace

asio::awaitable<std::string> scripted_connection::read_frame() {
  std::string size(4, '\0');
  co_await asio::async_read(socket_, asio::buffer(size), asio::use_awaitable);
  std::string body(static_cast<std::size_t>(int32_at(size, 0)), '\0');
  co_await asio::async_read(socket_, asio::buffer(body), asio::use_awaitable);
  co_return body;
}

asio::awaitable<void> scripted_connection::write_frame(std::string body) { co_await write(framed(body)); }

asio::awaitable<std::int64_t> scripted_connection::read_connect() {
  constexpr std::size_t before_id = 4 + 8 + 4;  // version, last zxid seen, timeout
  const auto body = co_await read_frame();
  co_return boost::endian::load_big_s64(reinterpret_cast<const unsigned char*>(body.data()) + before_id);
}

asio::awaitable<void> scripted_connection::accept(std::int64_t id, std::int32_t timeout_ms, bool is_read_only) {
  const std::string password(16, 'p');
  std::string body = big(std::int32_t{0}) + big(timeout_ms) + big(id) + big(std::int32_t{16}) + password;
  body.push_back(is_read_only ? '\1' : '\0');
  co_await write_frame(std::move(body));
}

asio::awaitable<scripted_connection::request> scripted_connection::read_request() {
  auto body = co_await read_frame();
  request read{int32_at(body, 0), int32_at(body, 4), body.substr(8)};
  co_return read;
}

asio::awaitable<void> scripted_connection::answer(std::int32_t xid, std::int32_t error) {
  co_await write_frame(plain_answer(xid, error));
}

asio::awaitable<void> scripted_connection::answer_and_fire(std::int32_t xid, std::int32_t error, std::int32_t event,
                                                           std::string path) {
  constexpr std::int32_t of_a_watch = -1;
  constexpr std::int32_t connected = 3;
  const std::string told =
      answer_of(of_a_watch, 0) + big(event) + big(connected) + big(static_cast<std::int32_t>(path.size())) + path;
  const std::string both = framed(plain_answer(xid, error)) + framed(told);
  co_await write(both);
}

asio::awaitable<void> scripted_connection::write(std::string bytes) {
  co_await asio::async_write(socket_, asio::buffer(bytes), asio::use_awaitable);
}

asio::awaitable<void> scripted_connection::await_input() {
  co_await socket_.async_wait(tcp::socket::wait_read, asio::use_awaitable);
}

asio::awaitable<void> scripted_connection::until_end() {
  std::string ignored(4096, '\0');
  for (;;) {
    auto result = co_await socket_.async_read_some(asio::buffer(ignored), asio::as_tuple(asio::use_awaitable));
    if (std::get<0>(result)) co_return;
  }
}

scripted_server::scripted_server(asio::io_context& io, script each)
    : acceptor_(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)), script_(std::move(each)) {
  address_ = "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  asio::co_spawn(io, listen(), asio::detached);
}

asio::awaitable<void> scripted_server::listen() {
  auto executor = acceptor_.get_executor();
  for (;;) {
    auto accepted = co_await acceptor_.async_accept(asio::as_tuple(asio::use_awaitable));
    if (std::get<0>(accepted) == asio::error::no_descriptors) {  // a test has used them up; the client waits
      asio::steady_timer pause(executor, std::chrono::milliseconds(10));
      co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
      continue;
    }
    if (std::get<0>(accepted)) co_return;
    asio::co_spawn(executor, script_(scripted_connection(std::move(std::get<1>(accepted)))), asio::detached);
  }
}

}  // namespace zkrecipes::test
