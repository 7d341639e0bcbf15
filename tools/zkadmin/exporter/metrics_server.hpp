// Serves one text over HTTP/1.1.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <zkrecipes/service/http_server.hpp>

#include "cluster/recipe_status.hpp"
#include "settings/settings.hpp"

namespace zkadmin {

// The state of a cluster as metrics.

/// One read of the cluster.
struct refreshed {
  findings seen{};
  std::chrono::system_clock::time_point ended{};  ///< The epoch of the clock: only the servers are known.
  std::chrono::milliseconds took{0};
};

/// Text in the exposition format of Prometheus. A value that is not known has no sample, and `zkadmin_complete` is 0
/// then.
std::string to_metrics(const refreshed& last, const wanted_kinds& kinds, const problem_limits& limits);

/// Before the first read: nothing is known.
std::string metrics_of_nothing();

/// `GET /metrics` gives the text, `GET /` says so. A connection is closed after its answer; a client that takes too
/// long, or sends too much, is cut off. Answers share the text. For an executor of one thread.
class metrics_server {
 public:
  /// The number of connections at a time. For a further one the oldest is closed that has not asked yet, or, if all
  /// have, the oldest: clients that are slow keep nobody out.
  static constexpr std::size_t most_connections = 32;
  /// The time for a request, and for reading its answer.
  static constexpr auto longest_wait = std::chrono::seconds(10);

  /// Listens at once. Throws `failure` if that is not possible, or if the host is no IP address.
  metrics_server(const boost::asio::any_io_executor& executor, const endpoint& where);

  /// The address, with the port that was chosen if it was to be any.
  endpoint where() const;

  /// The text to serve from now on.
  void set(std::string text) { text_ = std::make_shared<const std::string>(std::move(text)); }

  void start() { server_.start(); }
  boost::asio::awaitable<void> close() { return server_.close(); }

 private:
  boost::asio::awaitable<zkrecipes::service::http_response> answer(const zkrecipes::service::http_request& to) const;

  std::string host_;  ///< As given, for `where`.
  std::shared_ptr<const std::string> text_ = std::make_shared<const std::string>();
  zkrecipes::service::http_server server_;
};

}  // namespace zkadmin
