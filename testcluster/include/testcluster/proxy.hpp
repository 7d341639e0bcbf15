#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <testcluster/error.hpp>
#include <testcluster/op_code.hpp>

namespace testcluster {

/// How a proxy treats the bytes that pass through it.
enum class proxy_protocol {
  client,  ///< Passes on whole frames of ZooKeeper's client protocol; any other bytes as they arrive.
  opaque,  ///< Passes on bytes as they arrive; drop_reply() and drop_request() are refused.
};

/// The settings of a proxy.
struct proxy_options {
  /// How much later everything arrives, each way. 0 to 60 s.
  std::chrono::milliseconds delay{0};

  proxy_protocol protocol = proxy_protocol::client;

  /// Numeric address of this machine to listen on, at a free port. Empty: a loopback address of the proxy's own.
  std::string listen{};

  /// Only for a proxy in front of a server's election port, with `opaque`: the address at which that server calls back
  /// a server that connects through this proxy. Without this, a server with a higher number calls back directly, past
  /// the proxies. Empty (the default): the first message passes unchanged.
  std::string callback{};
};

/// A TCP proxy in front of one server, with faults on demand. It has a thread of its own and, unless `listen` is given,
/// a loopback address of its own.
///
/// The delay is a latency and does not limit the throughput: the order of the bytes stays, and many requests can be in
/// flight at once. Several faults can be on at the same time; heal() ends them all.
///
/// Every function returns when it has taken effect. Thread safety: all functions may be called from any thread.
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

  /// Applies to bytes that arrive from now on. 0 to 60 s.
  void set_delay(std::chrono::microseconds delay);

  /// Limits the bytes per second, each way of each connection. Zero: no limit; at most 1 TB. Applies to bytes that
  /// arrive from now on. The proxy has a long queue, so a client that sends faster than the limit can send on without
  /// waiting; only its replies come late.
  void set_bandwidth(std::uint64_t bytes_per_second);

  /// Closes all connections and drops the bytes in flight on them. New connections are accepted.
  void cut();

  /// Closes one side of all connections. The other side is not told: its connection looks alive, and the bytes it sends
  /// are lost, until heal() or until that side gives up. New connections are accepted.
  void half_open(side closed);

  /// While true, the proxy reads, writes and closes nothing: connections look alive, and new ones are established but
  /// never answered. Nothing is lost: bytes sent meanwhile arrive afterwards. If only one way is frozen, the other way
  /// goes on.
  void freeze(bool frozen, way which = way::both);

  /// From now on, all bytes that the proxy would deliver this way are lost, and so are the ends of connections. The
  /// connections look alive, and new ones are established. heal() ends this, and closes the connections that have lost
  /// something.
  void blackhole(way lost = way::both);

  /// While true new connections are refused. Those that exist stay.
  void refuse(bool refusing);

  /// Closes the connection instead of passing on the reply to the k-th request of this kind, counted from now over all
  /// connections: the server has executed the request, and the client can not know. k is at least 1. Throws
  /// testcluster::error if the protocol is opaque.
  void drop_reply(std::int32_t op_code, int k = 1);

  /// Closes the connection instead of passing on the k-th request of this kind: the server never sees it.
  /// Otherwise like drop_reply.
  void drop_request(std::int32_t op_code, int k = 1);

  /// Like drop_request for each request of this kind that has a text in it, such as a path, until heal().
  void drop_requests(std::int32_t op_code, std::string text);

  /// Ends every fault and restores the initial delay. drops() and lost_bytes() keep their counts. Connections that are
  /// half-open or have lost something are closed, the others stay.
  void heal();

  /// The faults that are on, such as "delay 50 ms" (or "us"), "freeze", "drop-reply create2 1". Empty: none.
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
