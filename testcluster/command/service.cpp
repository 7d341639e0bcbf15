#include "service.hpp"

#include <csignal>
#include <memory>

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "connection.hpp"
#include "requests.hpp"

namespace testcluster::command {

namespace asio = boost::asio;
namespace json = boost::json;
using boost::system::error_code;

service::service(ensemble& cluster, const place& where, int lifeline)
    : cluster_(cluster), where_(where), acceptor_(io_, local::endpoint(where.socket().string())), lifeline_(io_) {
  if (lifeline >= 0) lifeline_.assign(lifeline);
  detail::close_on_exec(acceptor_.native_handle());
}

void service::run() {
  asio::signal_set signals(io_, SIGTERM, SIGINT);
  signals.async_wait([this](error_code, int) { io_.stop(); });
  char nothing = 0;
  if (lifeline_.is_open())
    lifeline_.async_read_some(asio::buffer(&nothing, 1), [this](error_code, std::size_t) { io_.stop(); });
  asio::co_spawn(io_, accept(), asio::detached);
  io_.run();
}

asio::awaitable<void> service::accept() {
  asio::steady_timer pause(io_);
  while (true) {
    error_code failed;
    auto peer = co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, failed));
    if (failed) {  // for example, no descriptor is free: this may pass
      pause.expires_after(std::chrono::milliseconds(50));
      co_await pause.async_wait(asio::use_awaitable);
      continue;
    }
    detail::close_on_exec(peer.native_handle());
    asio::co_spawn(io_, serve(std::make_shared<local::socket>(std::move(peer))), asio::detached);
  }
}

asio::awaitable<void> service::serve(std::shared_ptr<local::socket> peer) {
  constexpr std::size_t longest_request = 64 * 1024;
  asio::steady_timer patience(io_, std::chrono::seconds(5));
  patience.async_wait([peer](error_code ended) {
    if (!ended) peer->cancel();
  });
  error_code failed;
  std::string line;
  auto buffer = asio::dynamic_buffer(line, longest_request);
  co_await asio::async_read_until(*peer, buffer, '\n', asio::redirect_error(asio::use_awaitable, failed));
  patience.cancel();
  if (failed) co_return;
  const std::string reply = json::serialize(answer(line)) + "\n";
  co_await asio::async_write(*peer, asio::buffer(reply), asio::redirect_error(asio::use_awaitable, failed));
}

json::object service::answer(const std::string& line) {
  try {
    const auto request = json::parse(line).as_object();
    // `down` has no reply: the client waits for the end of this process.
    if (request.at("command").as_string() == "down") {
      io_.stop();
      return {};
    }
    return {{"ok", execute(request, cluster_, where_)}};
  } catch (const std::exception& problem) {
    return {{"error", problem.what()}};
  }
}

}  // namespace testcluster::command
