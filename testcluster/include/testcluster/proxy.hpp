#ifndef TESTCLUSTER_PROXY_HPP
#define TESTCLUSTER_PROXY_HPP

#include <testcluster/error.hpp>
#include <testcluster/op_code.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace testcluster {

struct proxy_options {
  /// How much later everything arrives, each way. 0 to 60 s.
  std::chrono::milliseconds delay{0};
};

/// A TCP proxy in front of one server, with faults on demand. It has a loopback address and a thread of its
/// own.
///
/// The delay is that of a long line: what is sent one after the other arrives one after the other, and much
/// can be under way at once. Frames of ZooKeeper's protocol are passed on whole; anything else as it comes.
///
/// Every function returns when its effect has set in. Thread safety: all functions may be called from any
/// thread.
class proxy {
 public:
  /// `target` is address:port, numeric, such as node_info::address. Throws std::invalid_argument if it is
  /// not, or if an option is out of bounds.
  explicit proxy(const std::string& target, const proxy_options& options = {});
  ~proxy();
  proxy(const proxy&) = delete;
  proxy& operator=(const proxy&) = delete;

  /// Where clients connect to, as host:port.
  const std::string& address() const;

  /// Holds for what arrives from now on.
  void set_delay(std::chrono::milliseconds delay);

  /// Closes all connections, with what is under way in them. New ones are welcome.
  void cut();

  /// While true nothing is read, written or closed: connections look alive, and new ones are made but never
  /// answered.
  void freeze(bool frozen);

  /// While true new connections are refused. Those that exist stay.
  void refuse(bool refusing);

  /// Closes the connection instead of passing on the reply to the k-th request of this kind, counted from now
  /// over all connections: the server has done it, the client can not know. k is at least 1.
  void drop_reply(std::int32_t op_code, int k = 1);

  /// Closes the connection instead of passing on the k-th request of this kind: the server never sees it.
  void drop_request(std::int32_t op_code, int k = 1);

  /// How many connections drop_reply and drop_request have closed so far.
  std::size_t drops() const;

  /// How many connections there are through it now.
  std::size_t connections() const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace testcluster

#endif
