#include "servers/admin_client.hpp"

#include <tuple>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "base/text.hpp"
#include "servers/prober.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

constexpr std::uint32_t longest_admin_header = 8 * 1024;
constexpr std::size_t longest_admin_piece = 128 * 1024;  // The parser limits no line between chunks.

bool is_at_loopback(const asio::ip::tcp::socket& socket) {
  error_code error;
  const auto there = socket.remote_endpoint(error);
  return !error && there.address().is_loopback();
}

asio::awaitable<admin_answer> converse_with_admin_server(endpoint where, std::string path, std::size_t most) {
  asio::ip::tcp::socket socket(co_await asio::this_coro::executor);
  admin_answer answer;
  answer.trouble = co_await connect_to(socket, where);
  // The same text, as it is made of the same error.
  answer.is_refused = answer.trouble == printable(error_code(asio::error::connection_refused).message());
  if (!answer.trouble.empty()) co_return answer;
  answer.is_local = is_at_loopback(socket);
  http::request<http::empty_body> request(http::verb::get, path, 11);
  request.set(http::field::host, where.name);
  request.set(http::field::connection, "close");
  error_code error;
  std::tie(error, std::ignore) = co_await http::async_write(socket, request, as_result);
  boost::beast::flat_buffer buffer(longest_admin_piece);
  http::response_parser<http::string_body> parser;
  parser.header_limit(longest_admin_header);
  parser.body_limit(most);
  if (!error) std::tie(error, std::ignore) = co_await http::async_read(socket, buffer, parser, as_result);
  if (error) {
    answer.trouble = printable(error.message());
  } else if (parser.get().result() != http::status::ok) {
    answer.trouble = "it answers with the status " + std::to_string(parser.get().result_int());
  } else {
    answer.body = std::move(parser.get().body());
  }
  co_return answer;
}

}  // namespace

endpoint admin_endpoint(const endpoint& server, std::uint16_t port) {
  const bool is_v6 = server.host.find(':') != std::string::npos;
  const auto name = (is_v6 ? "[" + server.host + "]" : server.host) + ":" + std::to_string(port);
  return {server.host, port, name};
}

asio::awaitable<admin_answer> ask_admin_server(endpoint where, std::string path, std::size_t most,
                                               std::chrono::steady_clock::time_point limit) {
  auto exchange = converse_with_admin_server(std::move(where), std::move(path), most);
  auto answer = co_await until(limit, std::move(exchange));
  if (!answer) co_return admin_answer{"no answer in time"};
  co_return std::move(*answer);
}

namespace json = boost::json;

std::optional<json::object> admin_object(std::string_view body, const char* command, std::string& trouble) {
  boost::system::error_code error;
  auto value = json::parse(json::string_view(body.data(), body.size()), error);
  const auto* object = error ? nullptr : value.if_object();
  const auto* named = object ? object->if_contains("command") : nullptr;
  if (!named || !named->is_string() || std::string_view(named->as_string()) != command) {
    trouble = "its answer is not that of an AdminServer, or is cut off";
    return std::nullopt;
  }
  const auto* refusal = object->if_contains("error");
  if (refusal && refusal->is_string()) {
    trouble = "it says: " + printable(shortened(std::string_view(refusal->as_string()), 200));
    return std::nullopt;
  }
  return std::move(value.as_object());
}

}  // namespace zkadmin
