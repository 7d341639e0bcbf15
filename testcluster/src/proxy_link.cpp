#include "proxy_link.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "jute/messages.hpp"

namespace testcluster::detail {
namespace {

constexpr std::size_t head_size = 8 + 8;  // protocol version, number of the sending server
constexpr std::int32_t longest_address = 1024;

}  // namespace

std::string election_greeting::pass(std::string_view bytes) {
  pending_ += bytes;
  if (passed_) return rest();
  if (pending_.size() < head_size + 4) return {};
  const auto length = jute::reader(std::string_view(pending_).substr(head_size)).int32();
  passed_ = length < 0 || length > longest_address;  // not a greeting: pass on everything unchanged
  if (passed_) return rest();
  const auto whole = head_size + 4 + static_cast<std::size_t>(length);
  if (pending_.size() < whole) return {};
  passed_ = true;
  const auto address = jute::writer{}.string(callback_).frame().substr(4);
  const auto came = rest();
  return came.substr(0, head_size) + address + came.substr(whole);
}

namespace asio = boost::asio;
using boost::system::error_code;

proxy_link::proxy_link(tcp::socket client, asio::io_context& io, proxy_state& shared)
    : io_(io),
      shared_(shared),
      filter_(shared.rules),
      greeting_(shared.options.callback),
      client_(std::move(client)),
      server_(io),
      up_(io, client_, server_, shared.frozen_up, shared.swallow_up),
      down_(io, server_, client_, shared.frozen_down, shared.swallow_down) {}

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
  while (failed == asio::error::operation_aborted && !closed_) {  // freeze() interrupts this as well as close()
    server_ = tcp::socket(io_, server.protocol());
    close_on_exec(server_.native_handle());
    co_await server_.async_connect(server, asio::redirect_error(asio::use_awaitable, failed));
  }
  if (failed || closed_) co_return false;
  connected_ = true;
  for (auto* socket : {&client_, &server_}) socket->set_option(tcp::no_delay(true), failed);
  co_return true;
}

void proxy_link::close() {
  closed_ = true;
  half_ = false;
  error_code ignored;
  client_.close(ignored);
  server_.close(ignored);
  freeze_changed();
}

void proxy_link::freeze_changed() {
  error_code ignored;
  for (auto* way : {&up_, &down_}) {
    way->from.cancel(ignored);  // the interrupted operations are started again when they may go on
    way->timer.cancel();
    way->changed.notify();
  }
}

void proxy_link::half_open(proxy::side gone) {
  if (!connected_) return close();
  half_ = broken_ = true;
  error_code ignored;
  (gone == proxy::side::client ? client_ : server_).close(ignored);
  freeze_changed();
}

verdict proxy_link::judge(const direction& way, std::string_view bytes) {
  const bool up = &way == &up_;
  if (shared_.options.protocol == proxy_protocol::client) return up ? filter_.requests(bytes) : filter_.replies(bytes);
  return {.pass = up ? greeting_.pass(bytes) : std::string(bytes)};
}

std::string proxy_link::rest(const direction& way) {
  return &way == &up_ ? filter_.rest_of_requests() + greeting_.rest() : filter_.rest_of_replies();
}

clock::time_point proxy_link::arrival(direction& way, std::size_t bytes) {
  way.line_free = std::max(way.line_free, clock::now());
  if (shared_.bandwidth > 0) {
    const std::chrono::duration<double> passing(static_cast<double>(bytes) / static_cast<double>(shared_.bandwidth));
    way.line_free += std::chrono::duration_cast<clock::duration>(passing);
  }
  return way.line_free + shared_.delay;
}

void proxy_link::enqueue(direction& way, std::string bytes, after then) {
  auto due = arrival(way, bytes.size());
  if (!way.queue.empty()) due = std::max(due, way.queue.back().due);  // keeps the order if the delay was shortened
  way.queue.push_back({due, std::move(bytes), then});
  way.changed.notify();
}

asio::awaitable<void> proxy_link::read(direction& way) {
  constexpr std::size_t max_under_way = 4096;
  std::array<char, 16384> buffer;
  while (!closed_ && way.from.is_open()) {
    if (way.frozen || way.queue.size() > max_under_way) {
      co_await way.changed.wait();
      continue;
    }
    error_code failed;
    const auto size =
        co_await way.from.async_read_some(asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, failed));
    if (failed == asio::error::operation_aborted) continue;
    if (failed) {
      enqueue(way, rest(way), failed == asio::error::eof ? after::end_stream : after::cut);
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
  bool more = true;
  while (more && !closed_) {
    if (way.frozen || way.queue.empty()) {
      co_await way.changed.wait();
    } else if (clock::now() < way.queue.front().due) {
      co_await wait_until(way, way.queue.front().due);
    } else {
      auto next = std::move(way.queue.front());
      way.queue.pop_front();
      way.changed.notify();
      more = co_await deliver(way, std::move(next));
    }
  }
}

asio::awaitable<void> proxy_link::wait_until(direction& way, clock::time_point when) {
  error_code cancelled;
  way.timer.expires_at(when);
  co_await way.timer.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
}

// Returns false if nothing more will pass this way.
asio::awaitable<bool> proxy_link::deliver(direction& way, chunk what) {
  if (what.then != after::drop && way.swallow) {
    broken_ = true;
    shared_.lost_bytes += what.bytes.size();
    co_return what.then == after::go_on;
  }
  const bool written = !way.to.is_open() || co_await write_out(way, std::move(what.bytes));
  if (what.then == after::drop) shared_.rules.done();
  if (!written || what.then == after::cut || what.then == after::drop || (half_ && what.then != after::go_on)) {
    close();
    co_return false;
  }
  if (what.then == after::end_stream) {
    error_code ignored;
    way.to.shutdown(tcp::socket::shutdown_send, ignored);
    co_return false;
  }
  co_return true;
}

asio::awaitable<bool> proxy_link::write_out(direction& way, std::string bytes) {
  std::size_t written = 0;
  while (written < bytes.size()) {
    if (closed_) co_return false;
    if (way.frozen) {
      co_await way.changed.wait();
      continue;
    }
    error_code failed;
    written += co_await way.to.async_write_some(asio::buffer(bytes) + written,
                                                asio::redirect_error(asio::use_awaitable, failed));
    if (!way.to.is_open()) break;  // half-open: the rest is lost
    if (failed && failed != asio::error::operation_aborted) co_return false;
  }
  co_return !closed_;
}

}  // namespace testcluster::detail
