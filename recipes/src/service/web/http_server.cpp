#include <algorithm>
#include <array>
#include <exception>
#include <set>

#include <fcntl.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <zkrecipes/service/http_server.hpp>

namespace zkrecipes::service {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using tcp = asio::ip::tcp;

namespace {

constexpr auto with_result = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t most_drained = 64 * 1024;

void rethrow(std::exception_ptr failure) {
  if (failure) std::rethrow_exception(failure);
}

/// A program that a handler starts would keep the port, and connections that have ended here.
void close_at_exec(int descriptor) { ::fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

tcp::acceptor listen(const asio::any_io_executor& executor, const std::string& address, std::uint16_t port) {
  try {
    tcp::acceptor made(executor, {asio::ip::make_address(address), port});
    close_at_exec(made.native_handle());
    return made;
  } catch (const boost::system::system_error& failure) {
    const error_code why(failure.code().value(), failure.code().category());  // without the place in our sources
    throw boost::system::system_error(why, "HTTP can not be served at " + address + ", port " + std::to_string(port) +
                                               " (a service is given another one by [http] or --port)");
  }
}

constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";

http_request request_of(http::request<http::string_body>&& from) {
  const std::string_view target(from.target());
  const auto path = target.substr(0, target.find('?'));
  http_request request{std::string(from.method_string()), std::string(path)};
  if (path.size() < target.size()) request.query = target.substr(path.size() + 1);
  for (const auto& each : from) {
    std::string name(each.name_string());
    std::ranges::transform(name, name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
    request.fields.emplace(std::move(name), each.value());
  }
  request.body = std::move(from.body());
  return request;
}

bool is_about_http(const error_code& error) {
  return error.category() == http::make_error_code(http::error::bad_method).category() &&
         error != http::error::end_of_stream && error != http::error::partial_message;
}

http_response refusal_of(const error_code& error) {
  const bool is_long = error == http::error::header_limit || error == http::error::buffer_overflow;
  auto response = error == http::error::body_limit ? http_response::text(413, "the message is too long\n")
                                                   : http_response::text(is_long ? 431 : 400, error.message() + "\n");
  response.closes = true;
  return response;
}

http_response refusal_without_room() {
  auto response = http_response::text(503, "too much is being received\n");
  response.fields.emplace_back("Retry-After", "1");
  response.closes = true;
  return response;
}

http::response<http::span_body<const char>> message_of(const http_response& from, unsigned version) {
  http::response<http::span_body<const char>> message(static_cast<http::status>(from.status), version);
  message.set(http::field::content_type, from.type);
  for (const auto& [name, text] : from.fields) message.set(name, text);
  if (from.body) message.body() = {from.body->data(), from.body->size()};
  message.prepare_payload();
  message.keep_alive(!from.closes);
  return message;
}

}  // namespace

std::string_view http_request::field(std::string_view name) const {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string_view() : std::string_view(found->second);
}

class http_server::listener {
 public:
  listener(tcp::acceptor acceptor, http_handler handler, http_limits limits)
      : acceptor_(std::move(acceptor)),
        handler_(std::move(handler)),
        limits_(limits),
        pause_(acceptor_.get_executor()),
        ended_(acceptor_.get_executor(), asio::steady_timer::time_point::max()) {}

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  void start();
  asio::awaitable<void> close();

 private:
  struct connection {
    boost::beast::tcp_stream stream;
    enum { incomplete, answering, writing, dropped } state = incomplete;
    std::size_t bytes = 0;  // of the body of its request
    std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();

    void become(decltype(state) next) {
      state = next;
      since = std::chrono::steady_clock::now();
    }
  };
  using shared_connection = std::shared_ptr<connection>;
  using parser = http::request_parser<http::string_body>;

  asio::awaitable<void> accept();
  asio::awaitable<void> pause_accepting();
  bool take(tcp::socket socket);
  bool make_room();
  bool drop_slow();
  bool make_room_for(connection& of, std::size_t bytes);
  bool drop_oldest(const std::function<bool(const connection&)>& among);
  asio::awaitable<void> serve(shared_connection on);
  asio::awaitable<bool> serve_one(connection& on, boost::beast::flat_buffer& buffer);
  asio::awaitable<bool> write(connection& on, http_response response, const parser& request);
  asio::awaitable<void> drain(connection& on);
  asio::awaitable<http_response> answer(http_request to);

  tcp::acceptor acceptor_;
  const http_handler handler_;
  const http_limits limits_;
  std::set<shared_connection> connections_;
  bool accepting_ = false;
  bool closing_ = false;
  asio::steady_timer pause_;
  asio::steady_timer ended_;  ///< Cancelled when a coroutine of this server has ended.
};

http_server::http_server(const asio::any_io_executor& executor, const std::string& address, std::uint16_t port,
                         http_handler handler, http_limits limits)
    : listener_(std::make_unique<listener>(listen(executor, address, port), std::move(handler), limits)) {}
http_server::~http_server() = default;

std::uint16_t http_server::port() const { return listener_->port(); }
void http_server::start() { listener_->start(); }
asio::awaitable<void> http_server::close() { return listener_->close(); }

void http_server::listener::start() {
  accepting_ = true;
  asio::co_spawn(acceptor_.get_executor(), accept(), rethrow);
}

asio::awaitable<void> http_server::listener::close() {
  closing_ = true;
  acceptor_.close();
  pause_.cancel();
  std::vector<shared_connection> writing;
  for (const auto& each : connections_) {
    if (each->state == connection::incomplete) each->stream.close();
    if (each->state == connection::writing) writing.push_back(each);
  }
  asio::steady_timer last(acceptor_.get_executor(), limits_.last_write);
  last.async_wait([writing](auto error) {  // a connection that ended meanwhile is closed already
    for (const auto& each : writing)
      if (!error) each->stream.close();
  });
  while (accepting_ || !connections_.empty()) co_await ended_.async_wait(with_result);
}

asio::awaitable<void> http_server::listener::accept() {
  while (!closing_) {
    auto [error, socket] = co_await acceptor_.async_accept(with_result);
    if (error == asio::error::no_descriptors && drop_slow()) continue;
    if (!error) close_at_exec(socket.native_handle());
    if (error || !take(std::move(socket))) co_await pause_accepting();
  }
  accepting_ = false;
  ended_.cancel();
}

// False: there is no memory for it.
bool http_server::listener::take(tcp::socket socket) {
  if (closing_) return true;
  try {
    if (!make_room()) return true;
    auto fresh = std::make_shared<connection>(connection{boost::beast::tcp_stream(std::move(socket))});
    const auto place = connections_.insert(fresh).first;
    try {
      asio::co_spawn(acceptor_.get_executor(), serve(std::move(fresh)), rethrow);
    } catch (...) {
      connections_.erase(place);  // else `close` would wait for it
      throw;
    }
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// No memory is left, or no descriptor although nobody is slow, in the process or in the system: it lasts, so a loop
// without a pause would be busy.
asio::awaitable<void> http_server::listener::pause_accepting() {
  if (closing_) co_return;
  pause_.expires_after(std::chrono::milliseconds(100));
  co_await pause_.async_wait(with_result);
}

// Those that are slow keep nobody out: neither a probe nor a message.
bool http_server::listener::make_room() {
  const auto is_there = [](const auto& each) { return each->state != connection::dropped; };
  const auto count = [&] { return static_cast<std::size_t>(std::ranges::count_if(connections_, is_there)); };
  return connections_.size() < limits_.connections || count() < limits_.connections || drop_slow();
}

bool http_server::listener::drop_slow() {
  return drop_oldest([](const connection& each) { return each.state == connection::incomplete; }) ||
         drop_oldest([](const connection& each) { return each.state == connection::writing; });
}

bool http_server::listener::make_room_for(connection& of, std::size_t bytes) {
  const auto sum = [&] {
    std::size_t all = bytes;
    for (const auto& each : connections_) all += each->state == connection::dropped ? 0 : each->bytes;
    return all;
  };
  const auto has_part = [](const connection& each) { return each.state == connection::incomplete && each.bytes > 0; };
  while (sum() > limits_.bodies) {
    if (!drop_oldest(has_part)) return false;
  }
  of.bytes = bytes;
  return true;
}

bool http_server::listener::drop_oldest(const std::function<bool(const connection&)>& among) {
  const auto rank = [&](const auto& each) { return std::pair(!among(*each), each->since); };
  const auto oldest = std::ranges::min_element(connections_, {}, rank);
  if (oldest == connections_.end() || !among(**oldest)) return false;
  (*oldest)->state = connection::dropped;
  (*oldest)->stream.close();
  return true;
}

asio::awaitable<void> http_server::listener::serve(shared_connection on) {
  try {
    boost::beast::flat_buffer buffer(limits_.header + most_drained);  // extensions of chunks have no limit of their own
    while (!closing_ && co_await serve_one(*on, buffer)) {
    }
  } catch (const std::bad_alloc&) {  // this client goes without an answer
  }
  on->stream.close();
  connections_.erase(on);
  ended_.cancel();
}

asio::awaitable<bool> http_server::listener::serve_one(connection& on, boost::beast::flat_buffer& buffer) {
  parser request;
  request.body_limit(limits_.body);
  request.header_limit(limits_.header);
  on.stream.expires_after(limits_.idle);
  auto [failure, read] = co_await http::async_read_header(on.stream, buffer, request, with_result);
  const bool is_whole = failure || request.is_done();
  const auto length = [&] { return static_cast<std::size_t>(request.content_length().value_or(limits_.body)); };
  const bool has_room = is_whole || make_room_for(on, length());
  if (!is_whole && has_room) {
    const bool is_old = request.get().version() < 11;  // takes what comes first for the answer
    if (!is_old && boost::beast::iequals(request.get()[http::field::expect], "100-continue"))
      co_await asio::async_write(on.stream, asio::buffer(go_on), with_result);  // curl waits a second for it
    auto [cut, more] = co_await http::async_read(on.stream, buffer, request, with_result);
    failure = cut;
  }
  if (on.state == connection::dropped) co_return false;  // also if its last bytes came in that moment
  if (failure && !is_about_http(failure)) co_return false;
  http_response response;
  if (!has_room) {
    response = refusal_without_room();
  } else if (failure) {
    response = refusal_of(failure);
    std::string().swap(request.get().body());  // what has come of it
  } else {
    on.become(connection::answering);
    on.stream.expires_never();  // the handler has a limit of its own
    const bool stays = request.get().keep_alive();
    response = co_await answer(request_of(std::move(request.get())));
    response.closes = response.closes || !stays || closing_;
  }
  co_return co_await write(on, std::move(response), request);
}

// The answer has the version of its request: a client of 1.0 waits for the end unless it is told that there is none.
asio::awaitable<bool> http_server::listener::write(connection& on, http_response response, const parser& request) {
  const bool is_known = request.is_header_done();
  auto message = message_of(response, is_known ? request.get().version() : 11);
  if (is_known && request.get().method() == http::verb::head) message.body() = {};  // the header tells the length
  on.become(connection::writing);
  on.bytes = 0;  // the request is gone, and who does not read the answer takes no room of it
  on.stream.expires_after(closing_ ? limits_.last_write : limits_.idle);
  auto [lost, written] = co_await http::async_write(on.stream, message, with_result);
  if (on.state == connection::dropped) co_return false;
  on.become(connection::incomplete);
  if (!lost && response.closes) co_await drain(on);
  co_return !lost && !response.closes;
}

// Reads what the client still sends, such as the body of a request that was refused: a socket that is closed with
// unread data resets the connection, and the client may lose the answer.
asio::awaitable<void> http_server::listener::drain(connection& on) {
  error_code ignored;
  on.stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
  std::array<char, 4096> scrap;
  std::size_t total = 0;
  while (total < most_drained && !closing_) {
    auto [end, size] = co_await on.stream.async_read_some(asio::buffer(scrap), with_result);
    if (end) co_return;
    total += size;
  }
}

asio::awaitable<http_response> http_server::listener::answer(http_request to) {
  try {
    auto response = co_await handler_(to);
    message_of(response, 11);  // throws for what is no answer, such as a 204 with a body
    co_return response;
  } catch (const std::exception&) {
    co_return http_response::text(500, "internal error\n");
  }
}

}  // namespace zkrecipes::service
