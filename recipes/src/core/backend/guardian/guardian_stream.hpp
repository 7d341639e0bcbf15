#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include <zkrecipes/error.hpp>

#include "backend/descriptors.hpp"
#include "backend/guardian/guardian_message.hpp"

namespace zkrecipes::backend {

/// A guardian of the session's own, where the machine has none: the program as a child of this process.
/// For a value of `errno`.
inline error_code system_error(int number) { return {number, boost::system::system_category()}; }

/// The program to start, if `session_options::guardian` names one ("child:/usr/bin/zkrecipes-guardian") and no socket.
std::optional<std::string> guardian_program(std::string_view guardian);

/// A guardian that was started. It goes on when this has gone.
class guardian_child {
 public:
  guardian_child() noexcept = default;
  /// Takes the pidfd.
  explicit guardian_child(int pidfd) noexcept : pidfd_(pidfd) {}
  guardian_child(guardian_child&& other) noexcept : pidfd_(std::exchange(other.pidfd_, -1)) {}
  guardian_child& operator=(guardian_child&& other) noexcept {
    std::swap(pidfd_, other.pidfd_);
    return *this;
  }
  ~guardian_child();

  /// Does nothing if there is none, or if it has ended.
  void kill() const noexcept;

 private:
  int pidfd_ = -1;
};

struct started_guardian {
  error_code error{};
  int socket = -1;  ///< Our end of the stream socket to it.
  guardian_child child{};
};

/// Starts the program. It is looked for in PATH if its name has no slash. It inherits stderr, where its log goes, and
/// no other descriptor. It has a session of its own (`setsid`), so that signals of a terminal do not end it together
/// with this process. Returns when it has been executed. Safe from every thread.
started_guardian start_guardian(const std::string& program);

/// The Unix stream socket of a line to the guardian. On the strand.
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

/// A line to the guardian: see `guardian_stream::connect`. Destroying it abandons the connection, unless it was
/// finished. No callback comes after either.
std::unique_ptr<guardian_line> open_guardian_line(boost::asio::any_io_executor strand, const std::string& guardian,
                                                  guardian_listener& listener);

}  // namespace zkrecipes::backend
