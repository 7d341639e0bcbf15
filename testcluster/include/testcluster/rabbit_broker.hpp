#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include <testcluster/authority.hpp>
#include <testcluster/error.hpp>

namespace testcluster {

/// The settings of a RabbitMQ cluster. Values out of range are refused with std::invalid_argument.
struct rabbit_broker_options {
  /// 1 to 7. Quorum queues have a member on each node, up to five.
  int nodes = 1;

  /// The directory of data, configuration and logs. Empty: a temporary directory, which is removed at the end.
  /// Otherwise the directory must either not exist yet or be empty; at the end only what the broker created is removed.
  /// With `tls` no '#' in it.
  std::filesystem::path dir{};

  /// The only user, who may do everything. Name and password stand in a configuration file, which has the mode 0600.
  /// 1 to 127 bytes each, no control characters.
  std::string user = "guest";
  std::string password = "guest";

  /// The only virtual host. 1 to 127 bytes, no control characters.
  std::string virtual_host = "/";

  /// Each node has a loopback address of its own, so that every port is free but those on which a program listens on
  /// every address. 1 to 45535: the nodes speak with each other on the port that is higher by 20 000.
  std::uint16_t port = 5673;

  /// Also listens for AMQPS, at the next port, with certificates that are made at the start, and asks each client for
  /// one of the same authority.
  bool tls = false;

  /// Further lines for the rabbitmq.conf of each node. The last of two lines with one key counts, so that these win
  /// over the broker's own, such as `vm_memory_high_watermark.absolute = 1GiB`.
  std::vector<std::string> extra_config{};

  /// How long start-up, start() and start_all() may take. More than zero. A node that does not answer is killed and
  /// started once more, in the middle of the time that is left when those before it answer.
  std::chrono::milliseconds start_timeout{120'000};
};

/// A real RabbitMQ cluster on this machine, for as long as the object lives. The constructor returns when every node
/// answers and each knows that the others are up. The nodes end with the object, and also when its process ends in any
/// other way, SIGKILL included. There is no epmd, no plugin, and nothing is shared with a broker that the machine has.
/// The scripts of RabbitMQ are expected in the folder that the environment variable TESTCLUSTER_RABBITMQ names, by
/// default /usr/lib/rabbitmq/bin (Debian: rabbitmq-server).
///
/// A node needs about 5 s of processor to start, and 150 MiB of memory. The first node starts alone, then the others
/// at once. Nodes are numbered 1, 2, ...
///
/// Functions throw testcluster::error if the state does not allow the call, such as kill() of a node that does not
/// run, and std::invalid_argument if there is no such node. Thread safety: distinct objects: safe; shared object: only
/// nodes(), address(), addresses(), secure_address(), secure_addresses(), dir() and keeps().
class rabbit_broker {
 public:
  explicit rabbit_broker(const rabbit_broker_options& options = {});
  ~rabbit_broker();
  rabbit_broker(const rabbit_broker&) = delete;
  rabbit_broker& operator=(const rabbit_broker&) = delete;

  int nodes() const;

  /// host:port; the same throughout the broker's life.
  const std::string& address(int node = 1) const;
  /// The addresses of all nodes, separated by commas.
  std::string addresses() const;
  const std::filesystem::path& dir() const;
  /// host:port for AMQPS. Throws testcluster::error without `tls`, as the next three do.
  const std::string& secure_address(int node = 1) const;
  std::string secure_addresses() const;
  /// It has signed the certificates of the nodes.
  testcluster::authority& authority();
  /// A certificate that the nodes take.
  const certificate_files& client_certificate() const;

  bool running(int node = 1);
  pid_t pid(int node = 1);  ///< of the Erlang machine; 0: it does not run

  void kill(int node = 1);  ///< SIGKILL; returns when the process is gone
  void stop(int node = 1);  ///< SIGTERM, and SIGKILL after start_timeout; returns when the process is gone
  /// Starts it with the data it had. Returns when it answers, and it and the other nodes that run and are not paused
  /// know each other. A node that was not the last one to end waits for those that ended after it: if all have ended,
  /// use start_all(). If the time is over, the process runs on.
  void start(int node = 1);
  void start_all();            ///< start() of all nodes that do not run, at once
  void restart(int node = 1);  ///< kill() if it runs, then start()
  void pause(int node = 1);    ///< SIGSTOP
  void resume(int node = 1);   ///< SIGCONT

  /// The node that leads a quorum queue of the virtual host; 0: no node is known to do so at present, or there is no
  /// such queue. Asks the nodes that run and are not paused, by an Erlang machine of its own, which takes a fifth of a
  /// second of processor.
  int leader_of(const std::string& queue);

  /// Whether the node has written to its disk that it has a part of this quorum queue. RabbitMQ 3.10 does so about a
  /// second after the queue was made; if every node is killed before that, nobody finds the queue again, although
  /// messages in it were confirmed.
  bool keeps(const std::string& queue, int node = 1) const;

  /// What the node has printed, over all its starts.
  std::string log(int node = 1) const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace testcluster
