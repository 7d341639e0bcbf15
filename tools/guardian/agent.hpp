#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include <zkrecipes/lease_clock.hpp>

#include "descriptor.hpp"
#include "ending_order.hpp"
#include "event_log.hpp"
#include "held_process.hpp"
#include "peer_connection.hpp"
#include "registry.hpp"

namespace guardian {

/// The right to make a socket at a path, as long as it lasts: a lock (`flock`) of a file beside it, "PATH.lock".
/// Without it two guardians that start at the same time could both take away the socket of an earlier one, and one of
/// them that of the other.
class socket_lock {
 public:
  /// \throws std::runtime_error if somebody else has it, or the file can not be made.
  explicit socket_lock(const std::string& path);
  socket_lock(const socket_lock&) = delete;
  socket_lock& operator=(const socket_lock&) = delete;
  /// Removes the file.
  ~socket_lock();

 private:
  std::string file_;
  descriptor held_;
};

/// Listens at a path of the file system, for those whom mode and group of the socket let in.
class listener {
 public:
  using socket = boost::asio::local::stream_protocol::socket;
  using handler = std::function<void(socket)>;

  struct place {
    std::string path;
    unsigned mode = 0660;
    std::string group;  ///< Empty: that of the guardian.
  };

  /// Takes the place of a guardian that is gone. \throws
  /// std::runtime_error if the path is taken, the group is unknown, or the system refuses.
  listener(const boost::asio::any_io_executor& executor, const place& where, handler told);
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  /// Removes the socket, unless another one stands at its path by now.
  ~listener();

  void start();

 private:
  void make_room(const std::string& path);

  boost::asio::local::stream_protocol::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  handler told_;
  std::string path_;
  std::optional<socket_lock> lock_;                         // ends last
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // a handler can come after our end, without an error
  struct stat own_ {};
};

/// Ends the sessions of dead processes, a limited number of each user at a time. A session that has timed out meanwhile
/// is left alone. The account of the user is charged for what a session holds until it has ended.
class endings {
 public:
  /// `told`: that one more has ended.
  endings(session_ender how, event_log& log, std::function<void()> told)
      : how_(std::move(how)), log_(log), told_(std::move(told)) {}

  void begin(const held_process_ptr& process, std::vector<held_session> sessions);
  /// How many are under way or wait.
  std::size_t count() const noexcept { return waiting_.size() + running_; }

 private:
  using time_point = zkrecipes::lease_clock::time_point;
  struct item {
    held_process_ptr process;
    session_of_the_dead what;
    time_point deadline;
    holding charged;
  };
  void start_some();
  void start(item which);
  void log_ending(const held_process& process, std::int64_t session, std::size_t terms, const ending& result);

  session_ender how_;
  event_log& log_;
  std::function<void()> told_;
  std::deque<item> waiting_;
  std::size_t running_ = 0;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);  // a result that comes later than our end is dropped
};

struct agent_options {
  listener::place socket;
  early_looks early;
  limits most;
};

/// The guardian: those who connect, what is held for them, and what is done when they are dead. On one thread.
class agent {
 public:
  agent(boost::asio::io_context& io, const agent_options& options, session_ender how, event_log::sink log);
  agent(const agent&) = delete;
  agent& operator=(const agent&) = delete;
  ~agent();

  /// \throws std::runtime_error as `listener`.
  void listen();
  /// Serves one process, which has made the other end. `over` is called when nothing is held and nobody is connected. A
  /// process that lives can not come back, so what it has told is forgotten when its sessions have timed out.
  void serve(int socket, std::function<void()> over);
  /// Takes no connections any more, and ends those that there are. What was told is forgotten.
  void stop();
  /// The same. `over` is called when the sessions of the processes that are dead already have been ended.
  void finish(std::function<void()> over);

  const registry& held() const noexcept { return known_; }
  std::size_t connection_count() const noexcept { return connections_.size(); }

 private:
  void accept(listener::socket with, bool is_inherited = false);
  void on_end();
  void end_if_over();
  void wait_for_timeouts();

  boost::asio::io_context& io_;
  agent_options options_;
  event_log log_;
  endings endings_;
  registry known_;
  std::optional<listener> listener_;
  std::map<std::uint64_t, std::shared_ptr<peer_connection>> connections_;
  std::uint64_t last_number_ = 0;
  std::function<void()> over_;
  std::function<void()> finished_;
  boost::asio::steady_timer timer_;
  bool has_set_timer_ = false;                              // the timer was set
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // a handler can come after our end
};

struct invocation {
  agent_options options;
  int child = -1;  ///< The descriptor to serve instead of listening.
  bool is_ending_process = false;
};

/// Reads the command line. Nothing if there is nothing more to do: help was asked for, or it was wrong (`status`).
std::optional<invocation> parse_command_line(int argc, const char* const* argv, int& status);

}  // namespace guardian
