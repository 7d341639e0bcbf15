#include "cluster/probe.hpp"
#include "as_result.hpp"

#include "cluster/srvr.hpp"
#include "for_each_index.hpp"
#include "text.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <memory>
#include <string>
#include <tuple>

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using endpoints = tcp::resolver::results_type;

// A name lookup can not be cancelled: it goes on in the background with this much when nobody waits any more.
struct lookup {
  explicit lookup(const asio::any_io_executor& executor)
      : resolver(executor), done(executor, asio::steady_timer::time_point::max()) {}
  tcp::resolver resolver;
  asio::steady_timer done;
  error_code error = asio::error::would_block;
  endpoints found;
};

asio::awaitable<endpoints> resolve(const endpoint& server, error_code& error) {
  const auto executor = co_await asio::this_coro::executor;
  error = {};
  if (const auto address = asio::ip::make_address(server.host, error); !error)
    co_return endpoints::create(tcp::endpoint(address, server.port), server.host,
                                std::to_string(server.port));
  const auto shared = std::make_shared<lookup>(executor);
  const auto keep = [shared](error_code outcome, endpoints found) {
    shared->error = outcome;
    shared->found = std::move(found);
    shared->done.cancel();
  };
  shared->resolver.async_resolve(server.host, std::to_string(server.port), tcp::resolver::numeric_service,
                                 keep);
  co_await shared->done.async_wait(as_result);
  shared->resolver.cancel();  // If nobody waits any more and it has not begun, it need not.
  error = shared->error;
  co_return shared->found;
}

server_status unreachable(const endpoint& server, std::string why) {
  server_status status;
  status.server = server.name;
  status.error = std::move(why);
  return status;
}

server_status unreachable(const endpoint& server, const char* doing, const error_code& error) {
  return unreachable(server, std::string(doing) + printable(error.message()));
}

/// The whole conversation, without a limit of time.
asio::awaitable<server_status> ask(const endpoint& server) {
  const auto executor = co_await asio::this_coro::executor;
  error_code error;
  const endpoints places = co_await resolve(server, error);
  if (error) co_return unreachable(server, "name lookup: ", error);
  tcp::socket socket(executor);
  std::tie(error, std::ignore) = co_await asio::async_connect(socket, places, as_result);
  if (error) co_return unreachable(server, "", error);
  constexpr std::string_view request = "srvr";
  std::tie(error, std::ignore) = co_await asio::async_write(socket, asio::buffer(request), as_result);
  if (error) co_return unreachable(server, "", error);
  std::string answer;
  auto into = asio::dynamic_buffer(answer, longest_answer + 1);
  std::tie(error, std::ignore) = co_await asio::async_read(socket, into, as_result);
  if (error && error != asio::error::eof) co_return unreachable(server, "", error);
  co_return parse_srvr(server.name, answer);
}

asio::awaitable<server_status> probe(const endpoint& server, std::chrono::milliseconds limit) {
  using namespace asio::experimental::awaitable_operators;
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor, limit);
  const auto result = co_await (ask(server) || timer.async_wait(as_result));
  if (result.index() == 0) co_return std::get<0>(result);
  co_return unreachable(server, "no answer within " + short_duration(limit));
}

}  // namespace

asio::awaitable<std::vector<server_status>> probe_ensemble(std::span<const endpoint> servers,
                                                           std::chrono::milliseconds limit) {
  std::vector<server_status> found(servers.size());
  const auto ask_one = [servers, limit, &found](std::size_t i) -> asio::awaitable<void> {
    found[i] = co_await probe(servers[i], limit);
  };
  co_await for_each_index(servers.size(), servers.size(), ask_one);
  co_return found;
}

}  // namespace zkadmin
