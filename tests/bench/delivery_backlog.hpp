// A queue with messages, for one round of the part "deliveries".
#pragma once

#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <zkrecipes/session.hpp>

namespace bench {

struct delivery_paths {
  static constexpr const char* queue = "/deliveries/queue";
  static constexpr const char* effects = "/deliveries/effects";  ///< A node for each message that was processed.
  static constexpr const char* record = "/deliveries/record";    ///< What the bare loop checks.
  static constexpr const char* coordinator = "/deliveries/lead";
};

/// Fills the queue of `delivery_paths` without a delay. The destructor checks nothing and removes all that is left.
class delivery_backlog {
 public:
  delivery_backlog(const std::string& hosts, int count);
  ~delivery_backlog();
  delivery_backlog(const delivery_backlog&) = delete;
  delivery_backlog& operator=(const delivery_backlog&) = delete;

  int count() const noexcept { return count_; }
  /// \throws std::runtime_error unless each message has one effect.
  void require_all_effects() const;

 private:
  boost::asio::awaitable<bool> fill();
  boost::asio::awaitable<bool> clear();

  mutable boost::asio::io_context io_;
  mutable zkrecipes::session zk_;
  int count_;
};

}  // namespace bench
