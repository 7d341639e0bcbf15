// A handle of the C client, for one connection: our own duplicate of its descriptor, the connection that we make for
// it, and the credentials, which are sent past it.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <zkrecipes/error.hpp>
#include <zkrecipes/session_options.hpp>

#include "backend/descriptors.hpp"
#include "backend/link.hpp"
#include "backend/zookeeper/c_client.hpp"

namespace zkrecipes::backend {

/// The requests that show all of these credentials to a server, one after the other. To be wiped.
std::string credentials_frames(std::span<const credentials> all);

/// Frames of which the socket has not taken all. They are sent past the C client, which would keep the credentials, and
/// free its copies without wiping them.
class unsent_credentials {
 public:
  ~unsent_credentials() { wipe(); }

  void begin(std::string frames);
  /// What the socket does not take stays. A failure only ends the stream, because the C client may be under way.
  void send(int to);
  bool empty() const noexcept { return frames_.empty(); }
  std::chrono::steady_clock::time_point since() const noexcept { return since_; }
  void wipe() noexcept;

 private:
  std::string frames_;
  std::size_t sent_ = 0;
  std::chrono::steady_clock::time_point since_;
};

/// How the C client gets a connection that we have made.
/// The C client opens its socket itself, and connects it to an address. For a secure connection it gets the address of
/// this: a loopback address that is taken by a socket that never listens. So the attempt reaches nobody, and no process
/// can wait there. Before the C client has looked at the outcome, `take_over` puts one end of a pair of Unix sockets
/// in the place of its socket. To the C client that is a socket which has connected.
class stand_in {
 public:
  /// Takes an address of the family that `server` has.
  explicit stand_in(const endpoint& server);
  ~stand_in();
  stand_in(const stand_in&) = delete;
  stand_in& operator=(const stand_in&) = delete;

  /// False: no address could be taken, as `failure` says.
  bool is_ready() const noexcept { return address_.port != 0; }
  /// An `errno`, such as EADDRNOTAVAIL without a loopback interface.
  int failure() const noexcept { return failure_; }
  const endpoint& address() const noexcept { return address_; }

  /// Replaces this descriptor of the C client. Returns the other end of the pair, which is the caller's, or -1.
  static int take_over(int descriptor);

 private:
  bool take(bool is_v6);

  int taken_ = -1;
  int failure_ = 0;
  endpoint address_{"", 0};
};

class client_handle {
 public:
  enum class change { none, another, lost };

  explicit client_handle(const boost::asio::any_io_executor& strand) : descriptor_(strand) {}
  client_handle(const client_handle&) = delete;
  client_handle& operator=(const client_handle&) = delete;
  ~client_handle() { close(); }

  /// Makes the handle, which is to connect to `at`. Error: it could not be made, and nobody was asked.
  error_code open(const session_key& key, const endpoint& at, watcher_fn watcher, void* context);
  /// Breaks the connection. Pending requests are answered meanwhile.
  void close();

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  zhandle_t* get() const noexcept { return handle_; }
  int state() const noexcept { return zoo_state(handle_); }
  /// In a child of `fork`.
  bool is_elsewhere() const noexcept { return home_.is_elsewhere(); }
  int process(int events) { return zookeeper_process(handle_, events); }

  /// The C client has this descriptor now. Once the connection was up, the C client closes its socket only when it
  /// gives the connection up. `has_one_only`: another one is of no use.
  change follow(int fd, bool was_up, bool has_one_only);
  boost::asio::posix::stream_descriptor& descriptor() noexcept { return descriptor_; }
  int ours() noexcept { return descriptor_.native_handle(); }
  int theirs() const noexcept { return theirs_; }

 private:
  void detach_elsewhere();

  home_process home_;
  boost::asio::posix::stream_descriptor descriptor_;
  zhandle_t* handle_ = nullptr;
  int theirs_ = -1;
};

}  // namespace zkrecipes::backend
