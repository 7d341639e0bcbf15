#pragma once

#include <testcluster/error.hpp>
#include <testcluster/op_code.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace testcluster {

/// What a proxy has to know of what passes through it.
enum class proxy_protocol {
  client,  ///< Frames of ZooKeeper's client protocol are passed on whole; anything else as it comes.
  opaque,  ///< Bytes as they come; nothing can be lost by its kind.
};

struct proxy_options {
  /// How much later everything arrives, each way. 0 to 60 s.
  std::chrono::milliseconds delay{0};

  proxy_protocol protocol = proxy_protocol::client;

  /// An address of this machine to listen on, numeric; a free port is taken. Empty: an address of its own.
  std::string listen{};

  /// In front of a server's election port (and opaque): where that server shall call back whoever comes
  /// through this proxy. Without it, a server with a higher number calls back past the proxies. Empty: as it
  /// is.
  std::string callback{};
};

/// A TCP proxy in front of one server, with faults on demand. It has a loopback address and a thread of its
/// own.
///
/// The delay is that of a long line: what is sent one after the other arrives one after the other, and much
/// can be under way at once. Several faults can be on at the same time; heal() ends them all.
///
/// Every function returns when its effect has set in. Thread safety: all functions may be called from any
/// thread.
class proxy {
 public:
  enum class side { client, server };
  enum class way { to_server, to_client, both };

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

  /// How much passes in a second, each way of each connection. Zero: any amount. Holds for what arrives from
  /// now on. The queue in front of the narrow line is long: whoever sends more than passes waits for the
  /// answer, not for the line. Not above 1 TB.
  void set_bandwidth(std::uint64_t bytes_per_second);

  /// Closes all connections, with what is under way in them. New ones are welcome.
  void cut();

  /// Closes all connections at one side. The other one is not told: its connection looks alive, and what it
  /// sends disappears, until heal() or until it gives up. New connections are welcome.
  void half_open(side closed);

  /// While true nothing is read, written or closed: connections look alive, and new ones are made but never
  /// answered. Nothing is lost: what was sent meanwhile arrives afterwards. One way only: the other goes on.
  void freeze(bool frozen, way which = way::both);

  /// What is sent this way from now on disappears, ends of connections included, while they look alive; new
  /// ones are made, too. Until heal(), which closes the connections on which something is missing.
  void blackhole(way lost = way::both);

  /// While true new connections are refused. Those that exist stay.
  void refuse(bool refusing);

  /// Closes the connection instead of passing on the reply to the k-th request of this kind, counted from now
  /// over all connections: the server has done it, the client can not know. k is at least 1. Throws
  /// testcluster::error if the protocol is opaque.
  void drop_reply(std::int32_t op_code, int k = 1);

  /// Closes the connection instead of passing on the k-th request of this kind: the server never sees it.
  /// Otherwise like drop_reply.
  void drop_request(std::int32_t op_code, int k = 1);

  /// Ends every fault: as if the proxy were new, apart from drops(), lost_bytes() and the connections that are whole.
  void heal();

  /// The faults that are on, such as "delay 50 ms", "freeze", "drop-reply create2 1". Empty: none.
  std::vector<std::string> faults() const;

  /// How many connections drop_reply and drop_request have closed so far.
  std::size_t drops() const;

  /// How many bytes blackhole() has made disappear so far.
  std::size_t lost_bytes() const;

  /// How many connections there are through it now.
  std::size_t connections() const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace testcluster
