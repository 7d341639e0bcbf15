#pragma once

#include <cstddef>
#include <cstdint>
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

}  // namespace testcluster::detail
