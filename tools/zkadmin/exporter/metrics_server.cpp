#include "exporter/metrics_server.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <tuple>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/write.hpp>

#include "as_result.hpp"
#include "failure.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;
using shared_text = std::shared_ptr<const std::string>;

constexpr auto pause_after_refusal = 100ms;  // For example because there are no more descriptors.
constexpr std::uint32_t longest_header = 8 * 1024;
constexpr std::size_t most_drained = 64 * 1024;
constexpr const char* plain_text = "text/plain; charset=utf-8";

tcp::endpoint address_of(const endpoint& where) {
  error_code error;
  const auto address = asio::ip::make_address(where.host, error);
  if (error) throw failure(exit_code::usage, "listen: expected an IP address and a port, found " + where.name);
  return {address, where.port};
}

/// The text is shared by all that are answered at the same time: it may be long, and a client slow.
struct reply {
  shared_text text;
  http::response<http::span_body<const char>> message;
};

reply make_reply(http::status status, const char* type, shared_text body) {
  reply made{std::move(body), {status, 11}};
  made.message.set(http::field::content_type, type);
  made.message.set(http::field::connection, "close");
  made.message.body() = {made.text->data(), made.text->size()};
  made.message.prepare_payload();
  return made;
}

reply make_reply(http::status status, const char* type, std::string body) {
  return make_reply(status, type, std::make_shared<const std::string>(std::move(body)));
}

reply answer_to(const http::request<http::empty_body>& request, const shared_text& metrics) {
  if (request.method() != http::verb::get) {
    auto refusal = make_reply(http::status::method_not_allowed, plain_text, std::string("only GET\n"));
    refusal.message.set(http::field::allow, "GET");
    return refusal;
  }
  const std::string_view target(request.target().data(), request.target().size());
  const auto path = target.substr(0, target.find('?'));
  if (path == "/metrics") return make_reply(http::status::ok, "text/plain; version=0.0.4; charset=utf-8", metrics);
  if (path == "/")
    return make_reply(http::status::ok, plain_text, std::string("zkadmin exporter: the metrics are at /metrics\n"));
  return make_reply(http::status::not_found, plain_text, std::string("not found: the metrics are at /metrics\n"));
}

bool is_of_http(const error_code& error) {
  return error.category() == http::make_error_code(http::error::bad_method).category() &&
         error != http::error::end_of_stream && error != http::error::partial_message;
}

reply answer_to_garbage(const error_code& error) {
  const bool is_long = error == http::error::header_limit || error == http::error::buffer_overflow;
  const auto status = is_long ? http::status::request_header_fields_too_large : http::status::bad_request;
  return make_reply(status, plain_text, std::string(error.message()) + "\n");
}

/// Reads what the client still sends, such as the body of a request that was refused: a socket that is closed with
/// unread data resets the connection, and the client may lose the answer.
asio::awaitable<void> drain(beast::tcp_stream& stream) {
  std::array<char, 4096> scrap;
  std::size_t total = 0;
  while (total < most_drained) {
    auto result = co_await stream.async_read_some(asio::buffer(scrap), as_result);
    if (std::get<0>(result)) co_return;
    total += std::get<1>(result);
  }
}

}  // namespace

metrics_server::metrics_server(const asio::any_io_executor& executor, const endpoint& where)
    : acceptor_(executor), host_(where.host), text_(std::make_shared<const std::string>()) {
  const auto address = address_of(where);
  error_code error;
  acceptor_.open(address.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(address, error);
  if (!error) acceptor_.listen(static_cast<int>(most_connections), error);
  if (error)
    throw failure(exit_code::error, "listening at " + printable(where.name) + ": " + printable(error.message()));
}

endpoint metrics_server::where() const {
  const auto port = acceptor_.local_endpoint().port();
  const bool is_v6 = host_.find(':') != std::string::npos;
  return {host_, port, (is_v6 ? "[" + host_ + "]" : host_) + ":" + std::to_string(port)};
}

void metrics_server::set(std::string text) { text_ = std::make_shared<const std::string>(std::move(text)); }

asio::awaitable<void> metrics_server::serve() {
  const auto self = shared_from_this();
  asio::steady_timer pause(acceptor_.get_executor());
  while (acceptor_.is_open()) {
    auto accepted = co_await acceptor_.async_accept(as_result);
    const error_code error = std::get<0>(accepted);
    if (!acceptor_.is_open()) co_return;
    if (error) {
      pause.expires_after(pause_after_refusal);
      co_await pause.async_wait(as_result);
    } else {
      make_room();
      auto fresh = std::make_shared<client>(beast::tcp_stream(std::move(std::get<1>(accepted))));
      clients_.push_back(fresh);
      asio::co_spawn(acceptor_.get_executor(), talk(std::move(fresh)), asio::detached);
    }
  }
}

void metrics_server::stop() { acceptor_.close(); }

void metrics_server::make_room() {
  if (clients_.size() < most_connections) return;
  auto which = std::ranges::find_if(clients_, [](const auto& each) { return !each->has_asked; });
  if (which == clients_.end()) which = clients_.begin();
  (*which)->stream.close();
  clients_.erase(which);
}

asio::awaitable<void> metrics_server::converse(client& with, shared_text metrics) {
  auto& stream = with.stream;
  stream.expires_after(longest_conversation);
  beast::flat_buffer buffer(longest_header + 1024);
  http::request_parser<http::empty_body> parser;
  parser.header_limit(longest_header);
  auto reading = co_await http::async_read_header(stream, buffer, parser, as_result);
  const error_code error = std::get<0>(reading);
  if (error && !is_of_http(error)) co_return;
  with.has_asked = true;
  reply answer = error ? answer_to_garbage(error) : answer_to(parser.get(), metrics);
  auto writing = co_await http::async_write(stream, answer.message, as_result);
  if (std::get<0>(writing)) co_return;
  error_code ignored;
  stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
  co_await drain(stream);
}

asio::awaitable<void> metrics_server::talk(shared_client with) {
  const auto self = shared_from_this();
  try {
    co_await converse(*with, text_);
  } catch (const std::exception&) {  // no memory: this client goes without an answer
  }
  clients_.remove(with);
}

}  // namespace zkadmin
