#pragma once

#include <memory>
#include <string>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include "backend/guardian/guardian_child.hpp"
#include "backend/guardian/guardian_line.hpp"
#include "backend/home_process.hpp"

namespace zkrecipes::backend {

/// The Unix stream socket of a `socket_guardian_line`. On the strand.
class guardian_stream : public std::enable_shared_from_this<guardian_stream> {
 public:
  guardian_stream(boost::asio::any_io_executor strand, guardian_listener& listener);

  /// To the socket with this path, or to a child: see `session_options::guardian`. Tells the listener later what came
  /// of it.
  void connect(const std::string& guardian);
  /// Writes at once what the socket takes, so that it arrives even if the process ends next.
  void send(std::string line);
  /// Calls the listener no more. The unsent rest is written if the guardian takes it soon.
  void finish();
  /// Calls the listener no more. A child goes on: the process may end without an orderly end of its session.
  void abandon();
  /// Calls the listener no more. A child is killed.
  void give_up();

 private:
  using protocol = boost::asio::local::stream_protocol;

  error_code open(const std::string& guardian, std::string& problem);
  void close();
  void fail_later(int error);
  void read();
  void take(std::string_view arrived);
  void write();
  long write_some();
  void fail(const error_code& reason);

  boost::asio::any_io_executor strand_;
  home_process home_;
  protocol::socket socket_;
  guardian_child child_;
  boost::asio::steady_timer limit_;  // of the end
  guardian_listener* listener_;      // null: it is told no more
  std::string unsent_;
  bool is_hello_sent_ = false;
  bool is_writing_ = false;
  bool is_failing_ = false;    // the listener will be told
  bool is_finishing_ = false;  // the socket is closed when all has been written
  std::string unread_;
};

/// The owner of a real line. Its destructor abandons the connection, unless it was finished. No callback comes after
/// either.
class socket_guardian_line final : public guardian_line {
 public:
  explicit socket_guardian_line(std::shared_ptr<guardian_stream> shared) : shared_(std::move(shared)) {}
  socket_guardian_line(const socket_guardian_line&) = delete;
  ~socket_guardian_line() override {
    if (shared_) shared_->abandon();
  }
  bool send(const guardian_message& what) override {
    auto line = to_line(what);
    if (line) shared_->send(std::move(*line));
    return line.has_value();
  }
  void finish() override { std::exchange(shared_, nullptr)->finish(); }
  void give_up() override { std::exchange(shared_, nullptr)->give_up(); }

 private:
  std::shared_ptr<guardian_stream> shared_;
};

}  // namespace zkrecipes::backend
