#pragma once

#include <testcluster/error.hpp>

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace testcluster {

class proxy;

/// The two ports at which servers reach each other. Followers are connected to the leader's quorum port; what
/// they agree on who leads is said over the election ports.
enum class peer_port { quorum, election };

struct ensemble_options {
  /// How many servers, 1 to 9. A single one runs standalone.
  int servers = 3;

  /// Where data, configuration and logs go. Empty: a temporary directory, removed at the end. Otherwise it
  /// must not exist or be empty; at the end only what the ensemble made in it is removed.
  std::filesystem::path dir{};

  /// ZooKeeper's tickTime, at least 10 ms. Sessions expire within one tick after their timeout.
  std::chrono::milliseconds tick_time{500};

  /// Ticks a follower may take to join (initLimit) and to answer (syncLimit), at least 1.
  int init_limit = 20;
  int sync_limit = 10;

  /// Bounds of the negotiated session timeout. Zero: the server's own, 2 and 20 ticks.
  std::chrono::milliseconds min_session_timeout{0};
  std::chrono::milliseconds max_session_timeout{0};

  /// Whether each transaction waits for the disk. Off: faster, and the kernel keeps what a killed server
  /// wrote.
  bool force_sync = false;

  /// Four-letter words the servers answer. `srvr` is always among them: readiness is asked with it.
  std::vector<std::string> four_letter_words{"srvr", "ruok", "mntr", "stat", "conf", "envi",
                                             "cons", "dump", "wchs", "wchc", "wchp", "isro"};

  /// Whether each server offers the AdminServer (HTTP), at node_info::admin.
  bool admin_server = false;

  /// Puts a proxy in front of each server; hosts() then names the proxies.
  bool delay_proxies = false;

  /// The delay those proxies start with, each way. Not negative.
  std::chrono::milliseconds delay{0};

  /// Puts a proxy in front of every port at which a server reaches another one: what peer_proxy() and
  /// partition() need.
  bool peer_proxies = false;

  /// Further lines for every server's zoo.cfg, "key=value", but for what the ensemble sets itself: where the
  /// servers are, and how they are asked whether they are ready.
  std::vector<std::string> extra_config{};

  /// Client, quorum, election and admin port of each server are base_port to base_port + 3, on a loopback
  /// address of its own. If somebody listens on such a port of every address, the next try is ten ports
  /// further.
  std::uint16_t base_port = 21810;

  /// How long start-up, start() and wait_serving() may take. More than zero.
  std::chrono::milliseconds start_timeout{30'000};
};

struct node_info {
  int id = 0;
  std::string address;  // host:port of the server itself
  std::string proxy;    // host:port of the proxy in front of it, or empty
  std::string admin;    // host:port of its AdminServer, or empty
  std::string role;     // leader, follower, standalone, looking (serves nobody), paused, stopped
  pid_t pid = 0;        // 0 when stopped
  bool running = false;
  int client_port = 0;
  std::vector<std::string>
      faults;  // what its proxies do: "clients: delay 5 ms", "to server 2 (quorum): freeze"
};

/// A ZooKeeper ensemble of real servers on this machine, for as long as the object lives.
///
/// The constructor returns when every server serves, exactly one leads, and a write through each has
/// succeeded. The servers end with the object, and also when its process ends in any other way, SIGKILL
/// included.
///
/// The environment can replace the java flags (TESTCLUSTER_JVM_FLAGS, separated by blanks) and the server
/// (TESTCLUSTER_ZOOKEEPER_JAR).
///
/// Every function that names a server throws std::invalid_argument for an unknown id and testcluster::error
/// when the server is not in a fit state. Thread safety: distinct objects: safe; shared object: only hosts(),
/// dir(), the proxies, partition() and heal().
class ensemble {
 public:
  explicit ensemble(const ensemble_options& options = {});
  ~ensemble();
  ensemble(const ensemble&) = delete;
  ensemble& operator=(const ensemble&) = delete;

  /// Connect string of all servers, comma separated; the same throughout the ensemble's life.
  const std::string& hosts() const;

  const std::filesystem::path& dir() const;

  std::vector<node_info> nodes();

  /// The id of the one server that leads, or stands alone. Waits up to start_timeout for an election to end.
  int leader();

  void kill(int id);    // SIGKILL; returns when the process is gone
  void stop(int id);    // SIGTERM; returns when the process is gone
  void pause(int id);   // SIGSTOP
  void resume(int id);  // SIGCONT; does not wait for it to rejoin, see wait_serving()

  /// Starts a server that was killed or stopped, with the data it had. Waits until it serves, unless too few
  /// servers run for any of them to serve.
  void start(int id);

  /// stop() if it runs, then start().
  void restart(int id);

  /// Ends a client's session as if it had timed out, and returns when the server has confirmed that. Works
  /// for any client, connected or not. Throws testcluster::error if there is no such session.
  void expire(std::int64_t session_id);

  /// Waits until every running server serves, one leads, and a write through each succeeds.
  void wait_serving();

  /// The proxy in front of a server; only with options.delay_proxies.
  testcluster::proxy& proxy(int id);

  /// The proxy through which one server reaches a port of another; only with options.peer_proxies. A
  /// follower's link to its leader is peer_proxy(follower, leader(), peer_port::quorum).
  testcluster::proxy& peer_proxy(int from, int to, peer_port port);

  /// Cuts a server off from all others: their links look alive, and nothing passes, as in a network that
  /// loses every packet. Its clients still reach it. The other side, and it itself, notice after
  /// options.sync_limit ticks. Only with options.peer_proxies.
  void partition(int id);

  /// Cuts two servers off from each other in the same way.
  void partition(int one, int other);

  /// Ends every fault of the proxies, of all of them or of those around one server. Processes that were
  /// killed or paused stay so. Does not wait for servers to rejoin, see wait_serving().
  void heal();
  void heal(int id);

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace testcluster
