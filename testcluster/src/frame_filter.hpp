#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

namespace testcluster::detail {

/// A condition variable for the coroutines of one thread. A coroutine that wakes up has to check its condition again.
class change {
 public:
  explicit change(boost::asio::io_context& io) : timer_(io, boost::asio::steady_timer::time_point::max()) {}
  void notify() { timer_.cancel(); }
  boost::asio::awaitable<void> wait();

 private:
  boost::asio::steady_timer timer_;
};

/// The rules by which requests and replies are lost, on all connections of one proxy.
class drop_rules {
 public:
  enum class what { request, reply };

  void add(what lost, std::int32_t op_code, int k) { rules_.push_back({lost, op_code, k, {}}); }
  /// For each request that has this text in it.
  void add_each(what lost, std::int32_t op_code, std::string text) {
    rules_.push_back({lost, op_code, each_one, std::move(text)});
  }
  void clear() { rules_.clear(); }

  /// One text per rule, such as "drop-reply create2 1". The number counts down: 1 means that the next such request is
  /// hit. A rule for each request has its text in place of the number.
  std::vector<std::string> describe() const;

  /// Counts a request. True if a rule wants this request to be lost in the given way.
  bool hit(what lost, std::int32_t op_code, std::string_view request);

  /// To be called when a request or a reply has been lost.
  void done() { ++drops_; }
  std::size_t drops() const { return drops_; }

 private:
  static constexpr int each_one = -1;

  struct rule {
    what lost;
    std::int32_t op_code;
    int left;  // or `each_one`
    std::string text;
  };
  std::vector<rule> rules_;
  std::size_t drops_ = 0;
};

/// Splits a byte stream into frames of ZooKeeper's protocol. Other streams (four-letter words) pass unchanged.
class frame_splitter {
 public:
  void add(std::string_view bytes) { pending_ += bytes; }

  /// The next complete frame with its length in front; nothing if it is not complete yet.
  std::optional<std::string> next();

  /// The bytes that do not make a complete frame, to be passed on when the stream ends.
  std::string rest() { return std::exchange(pending_, {}); }
  bool opaque() const { return opaque_; }

 private:
  std::string pending_;
  bool opaque_ = false;
};

/// The bytes to pass on, and whether to close the connection after them.
struct verdict {
  std::string pass;
  bool cut = false;
};

/// Watches one connection and decides which bytes pass.
class frame_filter {
 public:
  explicit frame_filter(drop_rules& rules) : rules_(rules) {}
  verdict requests(std::string_view bytes);
  verdict replies(std::string_view bytes);
  std::string rest_of_requests() { return requests_.rest(); }
  std::string rest_of_replies() { return replies_.rest(); }

 private:
  bool lose_request(const std::string& frame);
  bool lose_reply(const std::string& frame);
  drop_rules& rules_;
  frame_splitter requests_;
  frame_splitter replies_;
  bool connect_request_seen_ = false;
  bool connect_reply_seen_ = false;
  bool lose_connect_reply_ = false;
  std::vector<std::int32_t> replies_to_lose_;  // by xid
};

}  // namespace testcluster::detail
