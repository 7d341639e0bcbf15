#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <testcluster/proxy.hpp>

#include "connection.hpp"
#include "frame_filter.hpp"

namespace testcluster::detail {

/// Replaces the address in the first message on a connection to an election port. This message contains the protocol
/// version, the number of the sending server, and the address at which that server can be called back. A server with a
/// higher number closes the connection and calls back. Without the replacement, this new connection would bypass every
/// proxy.
class election_greeting {
 public:
  /// `callback` empty: everything passes unchanged.
  explicit election_greeting(std::string callback) : callback_(std::move(callback)), passed_(callback_.empty()) {}

  /// Takes bytes from the connecting server; returns the bytes to pass on.
  std::string pass(std::string_view bytes);

  /// The bytes that were held back, to be passed on when the stream ends.
  std::string rest() { return std::exchange(pending_, {}); }

 private:
  std::string callback_;
  std::string pending_;
  bool passed_;
};

/// The state that all connections of a proxy share.
struct proxy_state {
  const proxy_options options;
  std::chrono::microseconds delay = options.delay;
  std::uint64_t bandwidth = 0;
  bool frozen_up = false;
  bool frozen_down = false;
  bool refusing = false;
  bool swallow_up = false;
  bool swallow_down = false;
  std::size_t lost_bytes = 0;
  drop_rules rules{};
};

/// One connection through a proxy. All of it runs on the proxy's thread.
class proxy_link {
 public:
  proxy_link(tcp::socket client, boost::asio::io_context& io, proxy_state& shared);

  /// Connects to the server and passes bytes on until both sides have ended, or until close().
  static boost::asio::awaitable<void> run(std::shared_ptr<proxy_link> self, tcp::endpoint server);
  void close();
  bool closed() const { return closed_; }

  /// Closes the connection at one side only; the bytes that the other side sends are lost.
  void half_open(proxy::side gone);

  /// Whether only one side of the connection is left.
  bool half() const { return half_; }

  /// Whether the connection has lost bytes or a side, so that it can only be closed.
  bool broken() const { return broken_; }

  /// To be called when one way has been frozen or released.
  void freeze_changed();

 private:
  enum class after { go_on, end_stream, cut, drop };
  struct chunk {
    clock::time_point due;
    std::string bytes;
    after then;
  };
  struct direction {
    direction(boost::asio::io_context& io, tcp::socket& source, tcp::socket& sink, const bool& freezing,
              const bool& swallowing)
        : from(source), to(sink), frozen(freezing), swallow(swallowing), changed(io), timer(io) {}
    tcp::socket& from;
    tcp::socket& to;
    const bool& frozen;
    const bool& swallow;
    change changed;
    boost::asio::steady_timer timer;
    std::deque<chunk> queue;
    clock::time_point line_free;  // when the last queued byte has passed, at limited bandwidth
  };

  boost::asio::awaitable<bool> connect(tcp::endpoint server);
  boost::asio::awaitable<void> read(direction& way);
  boost::asio::awaitable<void> write(direction& way);
  boost::asio::awaitable<void> wait_until(direction& way, clock::time_point when);
  boost::asio::awaitable<bool> deliver(direction& way, chunk what);
  boost::asio::awaitable<bool> write_out(direction& way, std::string bytes);
  void enqueue(direction& way, std::string bytes, after then);
  clock::time_point arrival(direction& way, std::size_t bytes);
  verdict judge(const direction& way, std::string_view bytes);
  std::string rest(const direction& way);

  boost::asio::io_context& io_;
  proxy_state& shared_;
  frame_filter filter_;
  election_greeting greeting_;
  tcp::socket client_;
  tcp::socket server_;
  direction up_;
  direction down_;
  bool closed_ = false;
  bool half_ = false;
  bool broken_ = false;
  bool connected_ = false;
};

}  // namespace testcluster::detail
