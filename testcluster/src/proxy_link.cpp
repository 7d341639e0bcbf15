#include "proxy_link.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>

namespace testcluster::detail {

namespace asio = boost::asio;
using boost::system::error_code;

asio::awaitable<void> change::wait() {
  error_code cancelled;
  co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
}

proxy_link::proxy_link(tcp::socket client, asio::io_context& io, proxy_state& shared)
    : io_(io),
      shared_(shared),
      filter_(shared.rules),
      client_(std::move(client)),
      server_(io),
      up_(io, client_, server_),
      down_(io, server_, client_) {}

asio::awaitable<void> proxy_link::run(std::shared_ptr<proxy_link> self, tcp::endpoint server) {
  const bool connected = co_await self->connect(server);
  if (!connected) {
    self->close();
    co_return;
  }
  const auto keep_alive = [self](std::exception_ptr) {};
  for (auto* way : {&self->up_, &self->down_}) {
    asio::co_spawn(self->io_, self->read(*way), keep_alive);
    asio::co_spawn(self->io_, self->write(*way), keep_alive);
  }
}

asio::awaitable<bool> proxy_link::connect(tcp::endpoint server) {
  error_code failed = asio::error::operation_aborted;
  while (failed == asio::error::operation_aborted && !closed_) {  // by freeze(), if not by close()
    server_ = tcp::socket(io_, server.protocol());
    close_on_exec(server_.native_handle());
    co_await server_.async_connect(server, asio::redirect_error(asio::use_awaitable, failed));
  }
  if (failed || closed_) co_return false;
  for (auto* socket : {&client_, &server_}) socket->set_option(tcp::no_delay(true), failed);
  co_return true;
}

void proxy_link::close() {
  closed_ = true;
  error_code ignored;
  client_.close(ignored);
  server_.close(ignored);
  freeze_changed();
}

void proxy_link::freeze_changed() {
  error_code ignored;
  for (auto* way : {&up_, &down_}) {
    way->from.cancel(ignored);  // the interrupted operations are begun anew when they may go on
    way->timer.cancel();
    way->changed.notify();
  }
}

verdict proxy_link::judge(const direction& way, std::string_view bytes) {
  return &way == &up_ ? filter_.requests(bytes) : filter_.replies(bytes);
}

void proxy_link::enqueue(direction& way, std::string bytes, after then) {
  auto due = clock::now() + shared_.delay;
  if (!way.queue.empty()) due = std::max(due, way.queue.back().due);  // the delay may have been shortened
  way.queue.push_back({due, std::move(bytes), then});
  way.changed.notify();
}

asio::awaitable<void> proxy_link::read(direction& way) {
  constexpr std::size_t most_under_way = 4096;
  std::array<char, 16384> buffer;
  while (!closed_) {
    if (shared_.frozen || way.queue.size() > most_under_way) {
      co_await way.changed.wait();
      continue;
    }
    error_code failed;
    const auto size = co_await way.from.async_read_some(asio::buffer(buffer),
                                                        asio::redirect_error(asio::use_awaitable, failed));
    if (failed == asio::error::operation_aborted) continue;
    if (failed) {
      auto rest = &way == &up_ ? filter_.rest_of_requests() : filter_.rest_of_replies();
      enqueue(way, std::move(rest), failed == asio::error::eof ? after::end_stream : after::cut);
      co_return;
    }
    auto passed = judge(way, std::string_view(buffer.data(), size));
    if (passed.cut || !passed.pass.empty()) {
      enqueue(way, std::move(passed.pass), passed.cut ? after::drop : after::go_on);
    }
    if (passed.cut) co_return;
  }
}

asio::awaitable<void> proxy_link::write(direction& way) {
  while (!closed_) {
    if (shared_.frozen || way.queue.empty()) {
      co_await way.changed.wait();
      continue;
    }
    if (clock::now() < way.queue.front().due) {
      error_code cancelled;
      way.timer.expires_at(way.queue.front().due);
      co_await way.timer.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
      continue;
    }
    auto next = std::move(way.queue.front());
    way.queue.pop_front();
    way.changed.notify();
    const bool written = co_await write_out(way, std::move(next.bytes));
    if (next.then == after::drop) shared_.rules.done();
    if (!written || next.then == after::cut || next.then == after::drop) {
      close();
      co_return;
    }
    if (next.then == after::end_stream) {
      error_code ignored;
      way.to.shutdown(tcp::socket::shutdown_send, ignored);
      co_return;
    }
  }
}

asio::awaitable<bool> proxy_link::write_out(direction& way, std::string bytes) {
  std::size_t written = 0;
  while (written < bytes.size()) {
    if (closed_) co_return false;
    if (shared_.frozen) {
      co_await way.changed.wait();
      continue;
    }
    error_code failed;
    written += co_await way.to.async_write_some(asio::buffer(bytes) + written,
                                                asio::redirect_error(asio::use_awaitable, failed));
    if (failed && failed != asio::error::operation_aborted) co_return false;
  }
  co_return !closed_;
}

}  // namespace testcluster::detail
