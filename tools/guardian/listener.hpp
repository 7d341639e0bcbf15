#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <sys/stat.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include "descriptor.hpp"

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

}  // namespace guardian
