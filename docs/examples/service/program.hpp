// The service, put together.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/flow.hpp>
#include <zkrecipes/zkrecipes.hpp>

#include "configuration.hpp"
#include "endpoints.hpp"
#include "http_server.hpp"
#include "intake.hpp"
#include "json_log.hpp"
#include "role.hpp"

namespace service {

/// How the process ends.
enum class exit_code {
  stopped = 0,  ///< By a signal. Other replicas can go on at once, or when the session has timed out at the servers.
  failed = 1,   ///< The run has ended by itself; the log has the reason. Start it again.
  misused = 2,  ///< The command line or the configuration has a mistake. Starting it again does not help.
  cut_off = 3,  ///< The grace was over before everything was handed over, or there was a second signal.
};

/// One replica. It runs on a context with one thread, and stops the context at the end. Thread safety: none.
class program {
 public:
  /// Throws std::runtime_error if the HTTP port can not be had, and std::invalid_argument, with the
  /// name of the option, if the library refuses a setting.
  program(boost::asio::io_context& io, const configuration& settings, json_log& log);

  void start();
  exit_code result() const { return result_; }

 private:
  boost::asio::awaitable<void> run();
  boost::asio::awaitable<bool> prepare();
  boost::asio::awaitable<void> wait_for_signals();
  boost::asio::awaitable<void> log_changes();
  std::string cause_of(const zkrecipes::error_code& error) const;
  void begin_stop(int signal);
  void limit_the_stop();
  void end_now(const std::string& reason);
  boost::asio::awaitable<http_response> answer(const http_request& request);
  readiness state() const;
  void add_to(metrics_page& page) const;

  boost::asio::io_context& io_;
  const configuration settings_;
  json_log& log_;
  zkrecipes::session session_;
  std::optional<zkrecipes::limiter> limiter_;
  std::unique_ptr<role> role_;
  std::unique_ptr<intake> intake_;
  endpoints endpoints_;
  http_server server_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer grace_;
  bool running_ = false;
  bool stopping_ = false;
  bool limited_ = false;  ///< The grace has begun.
  exit_code result_ = exit_code::failed;
};

}  // namespace service
