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

class proxy;

/// The two ports at which servers reach each other. Followers connect to the leader's quorum port. The messages of
/// leader election pass through the election ports.
enum class peer_port { quorum, election };

/// The settings of an ensemble. Values out of range are refused with std::invalid_argument.
struct ensemble_options {
  /// How many servers that vote, 1 to 9. A single one without observers runs standalone.
  int servers = 3;

  /// Further servers that do not vote: they serve clients and never lead. Their ids follow those of the voters. At
  /// least 0, and at most 9 servers in all.
  int observers = 0;

  /// The directory of data, configuration and logs. Empty: a temporary directory, which is removed at the end.
  /// Otherwise the directory must either not exist yet or be empty; at the end only what the ensemble created is
  /// removed.
  std::filesystem::path dir{};

  /// ZooKeeper's tickTime, at least 10 ms. Sessions expire within one tick after their timeout.
  std::chrono::milliseconds tick_time{500};

  /// Ticks a follower may take to join (initLimit) and to answer (syncLimit), at least 1.
  int init_limit = 20;
  int sync_limit = 10;

  /// Bounds of the negotiated session timeout. Zero: the server's defaults, 2 and 20 ticks.
  std::chrono::milliseconds min_session_timeout{0};
  std::chrono::milliseconds max_session_timeout{0};

  /// Whether each transaction waits until it is on the disk. Off is faster, and no data is lost when a server is
  /// killed, because the kernel keeps what the process wrote.
  bool force_sync = false;

  /// The largest heap of each server's Java machine in MiB, 32 to 65536. 0: what the java flags say, which is 256
  /// unless TESTCLUSTER_JVM_FLAGS replaces them.
  int heap_mib = 0;

  /// Four-letter words that the servers answer. `srvr` is always added, because the readiness check uses it.
  std::vector<std::string> four_letter_words{"srvr", "ruok", "mntr", "stat", "conf", "envi",
                                             "cons", "dump", "wchs", "wchc", "wchp", "isro"};

  /// Whether each server offers the AdminServer (HTTP), at node_info::admin.
  bool admin_server = false;

  /// Each server has a second port, on which clients speak TLS and show a certificate; hosts() then names these ports.
  /// The certificates, which are valid for a day, are made at the start, in the folder `tls` of dir(). The connections
  /// between the servers use TLS as well, unless there are `peer_proxies`, which have to read them. The first port, by
  /// which testcluster itself asks the servers, stays plain.
  bool tls = false;

  /// A superuser, whom no ACL stops, with a password that is drawn at the start: see superuser_file(). The servers get
  /// its hash.
  bool digest_superuser = false;

  /// The servers serve only sessions with digest credentials, whatever these are; with `tls` also those with a
  /// certificate, which each client at the port for TLS has. testcluster itself has credentials().
  bool auth_required = false;

  /// Puts a proxy in front of each server; hosts() then names the proxies. With `tls` they pass on what they can not
  /// read, so drop_reply() and drop_request() are refused.
  bool delay_proxies = false;

  /// The initial delay of these proxies, each way: 0 to 60 s.
  std::chrono::milliseconds delay{0};

  /// Puts a proxy in front of every port through which one server reaches another. peer_proxy() and partition() need
  /// this.
  bool peer_proxies = false;

  /// Further lines "key=value" for every server's zoo.cfg. Keys on which the ensemble itself depends are refused:
  /// `server.*`, peerType, data directory, client ports and addresses, four-letter words, and the AdminServer's keys.
  std::vector<std::string> extra_config{};

  /// Client, quorum, election, admin and secure client port of each server are base_port to base_port + 4, on a
  /// loopback address of its own. If another program listens on one of these ports on every address, start-up tries
  /// again ten ports further, up to three times.
  std::uint16_t base_port = 21810;

  /// How long start-up, start() and wait_serving() may take. More than zero.
  std::chrono::milliseconds start_timeout{30'000};
};

/// One server of an ensemble, as far as it is known.
struct node_info {
  int id = 0;
  std::string address;  ///< host:port of the server itself
  std::string secure;   ///< host:port at which it speaks TLS, or empty
  std::string proxy;    ///< host:port of the proxy in front of it, or empty
  std::string admin;    ///< host:port of its AdminServer, or empty
  std::string role;     ///< leader, follower, observer, standalone, looking (not serving), paused, stopped
  pid_t pid = 0;        ///< 0 when stopped
  bool running = false;
  bool votes = true;  ///< false: an observer
  int client_port = 0;
  std::filesystem::path log;        ///< what it has printed, over all its starts
  std::vector<std::string> faults;  ///< of its proxies, such as "clients: delay 5 ms", "to server 2 (quorum): freeze"
};

/// A ZooKeeper ensemble of real servers on this machine, for as long as the object lives.
///
/// The constructor returns when every server serves, exactly one leads, and a write through each has
/// succeeded. The servers end with the object, and also when its process ends in any other way, SIGKILL
/// included.
///
/// The environment variable TESTCLUSTER_JVM_FLAGS replaces the java flags (separate them by blanks), and
/// TESTCLUSTER_ZOOKEEPER_JAR replaces ZooKeeper's jar.
///
/// Every function that takes the id of a server throws std::invalid_argument for an unknown id, and testcluster::error
/// if the server's state does not allow the call, such as kill() of a stopped server. Thread safety: distinct objects:
/// safe; shared object: only hosts(), dir(), options(), the proxies, partition() and heal().
class ensemble {
 public:
  explicit ensemble(const ensemble_options& options = {});
  ~ensemble();
  ensemble(const ensemble&) = delete;
  ensemble& operator=(const ensemble&) = delete;

  /// Connect string of all servers, comma separated; the same throughout the ensemble's life.
  const std::string& hosts() const;

  const std::filesystem::path& dir() const;

  /// A certificate that the servers take from a client; only with options.tls.
  const certificate_files& client_certificate() const;

  /// The authority that clients have to trust, and that signs further certificates; only with options.tls. Not safe to
  /// be used by several threads.
  testcluster::authority& authority();

  /// The superuser's credentials, one line "super:password" in a file of mode 0600 in dir(), which is removed at the
  /// end; only with options.digest_superuser.
  const std::filesystem::path& superuser_file() const;

  /// The digest credentials "user:password" by which testcluster itself speaks to the servers: the superuser's if there
  /// is one, others with options.auth_required, else empty.
  const std::string& credentials() const;

  /// Whether `tls` lets the servers speak TLS with each other: not with peer_proxies, and not if extra_config says
  /// `sslQuorum` itself.
  bool peers_speak_tls() const;

  /// The settings it was made with.
  const ensemble_options& options() const;

  std::vector<node_info> nodes();

  /// The id of the leader, or of a standalone server. Waits up to start_timeout for an election to end.
  int leader();

  void kill(int id);    ///< SIGKILL; returns when the process is gone
  void stop(int id);    ///< SIGTERM, and SIGKILL after start_timeout; returns when the process is gone
  void pause(int id);   ///< SIGSTOP
  void resume(int id);  ///< SIGCONT; does not wait for it to rejoin, see wait_serving()

  /// Starts a server that was killed or stopped, with the data it had. Then waits like wait_serving(), unless fewer
  /// voters than a quorum run.
  void start(int id);

  /// stop() if it runs, then start().
  void restart(int id);

  /// Ends a client's session as if it had timed out, and returns when the server has confirmed that. Works
  /// for any client, connected or not. Throws testcluster::error if there is no such session.
  void expire(std::int64_t session_id);

  /// Ends the session that owns an ephemeral node, like expire(), and returns its id. The node is looked for on the
  /// first running server that answers, after that server has caught up with the leader. Throws testcluster::error if
  /// the node does not exist, or is not ephemeral, and std::invalid_argument if `path` does not begin with a slash.
  std::int64_t expire_owner(const std::string& path);

  /// Waits until every running server serves, one leads, and a write through each succeeds.
  void wait_serving();

  /// The proxy in front of a server; only with options.delay_proxies.
  testcluster::proxy& proxy(int id);

  /// The proxy through which one server reaches a port of another; only with options.peer_proxies. A
  /// follower's link to its leader is peer_proxy(follower, leader(), peer_port::quorum).
  testcluster::proxy& peer_proxy(int from, int to, peer_port port);

  /// Cuts a server off from all others. Their connections look alive, but nothing passes, as in a network that loses
  /// every packet. Clients still reach the server. It and the other servers notice the cut after options.sync_limit
  /// ticks. Only with options.peer_proxies.
  void partition(int id);

  /// Cuts two servers off from each other in the same way.
  void partition(int one, int other);

  /// Ends every fault, either of all proxies or of those in front of one server and between it and the others. Servers
  /// that were killed or paused stay so. Does not wait for servers to rejoin, see wait_serving().
  void heal();
  void heal(int id);

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace testcluster
