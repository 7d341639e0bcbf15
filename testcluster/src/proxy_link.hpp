#ifndef TESTCLUSTER_PROXY_LINK_HPP
#define TESTCLUSTER_PROXY_LINK_HPP

#include "connection.hpp"
#include "frame_filter.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <deque>
#include <memory>
#include <string>

namespace testcluster::detail {

/// Lets coroutines of one thread wait for "something has changed". Whoever waits looks at its condition
/// again.
class change {
 public:
  explicit change(boost::asio::io_context& io) : timer_(io, clock::time_point::max()) {}
  void notify() { timer_.cancel(); }
  boost::asio::awaitable<void> wait();

 private:
  boost::asio::steady_timer timer_;
};

/// What all connections of a proxy have in common.
struct proxy_state {
  std::chrono::milliseconds delay{0};
  bool frozen = false;
  bool refusing = false;
  drop_rules rules;
};

/// One connection through a proxy. All of it runs on the proxy's thread.
class proxy_link {
 public:
  proxy_link(tcp::socket client, boost::asio::io_context& io, proxy_state& shared);

  /// Connects to the server and passes on until both sides have ended, or close().
  static boost::asio::awaitable<void> run(std::shared_ptr<proxy_link> self, tcp::endpoint server);
  void close();
  bool closed() const { return closed_; }

  /// To be called after proxy_state::frozen has changed.
  void freeze_changed();

 private:
  enum class after { go_on, end_stream, cut, drop };
  struct chunk {
    clock::time_point due;
    std::string bytes;
    after then;
  };
  struct direction {
    direction(boost::asio::io_context& io, tcp::socket& source, tcp::socket& sink)
        : from(source), to(sink), changed(io), timer(io) {}
    tcp::socket& from;
    tcp::socket& to;
    change changed;
    boost::asio::steady_timer timer;
    std::deque<chunk> queue;
  };

  boost::asio::awaitable<bool> connect(tcp::endpoint server);
  boost::asio::awaitable<void> read(direction& way);
  boost::asio::awaitable<void> write(direction& way);
  boost::asio::awaitable<bool> write_out(direction& way, std::string bytes);
  void enqueue(direction& way, std::string bytes, after then);
  verdict judge(const direction& way, std::string_view bytes);

  boost::asio::io_context& io_;
  proxy_state& shared_;
  frame_filter filter_;
  tcp::socket client_;
  tcp::socket server_;
  direction up_;
  direction down_;
  bool closed_ = false;
};

}  // namespace testcluster::detail

#endif
