// How a session behaves. The constructor of `session` refuses bad values with a message naming the field.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <zkrecipes/log.hpp>
#include <zkrecipes/node.hpp>
#include <zkrecipes/tls_options.hpp>
#include <zkrecipes/trace.hpp>

namespace zkrecipes {

/// Which answers count as proof that the ensemble still knows our session.
enum class lease_mode {
  standard,  ///< Any answer. A server that is cut off from its leader still answers some: see docs/guarantees.md.
  /// Only answers that a quorum vouches for. Two owners never believe at the same time unless a process pauses, under
  /// the conditions of docs/guarantees.md. Each session, whether it holds something or not, sends a `sync` and a
  /// transaction that changes nothing about every 0.3 of its timeout, which costs the ensemble a write to its log; the
  /// session's own writes count instead. The timeout must be at least two ticks (the servers' usual lower bound) for
  /// this to hold, and at least a dozen slow round trips, or else the lease lapses again and again.
  strict,
};

/// Which operations are tried again, and when. After a lost connection these are reads, and writes of recipes whose
/// effect can be told afterwards; other writes, for example `session::async_set`, complete with `connection_loss`. An
/// operation that a throttled server refused was not executed, and is tried again, too.
struct retry_policy {
  /// How long an operation may wait for a connection and be tried again: docs/operation-endings.md has what waits
  /// longer. 0 to 24 h. Zero: for as long as the session lives.
  std::chrono::milliseconds limit{30'000};
  /// Pause after a round in which no server could be reached, and before a throttled request is sent again. It doubles
  /// up to `max_pause` and varies by +-50 % at random. 1 ms to 1 h; `max_pause` is at least as long.
  std::chrono::milliseconds first_pause{50};
  std::chrono::milliseconds max_pause{2'000};
};

/// Settings of a `session`.
struct session_options {
  /// Servers as "host:port[,host:port...][/root]"; a missing port means 2181; IPv6 addresses in brackets. A root given
  /// here is put in front of `root`. If two addresses lead to the same server (a name with an IPv4 and an IPv6 address,
  /// a proxy), the session takes them for two servers: see "What a lost request can still do" in docs/reliability.md.
  std::string hosts{};
  /// Session timeout to ask the server for; the server has bounds of its own. 100 ms to 1 h.
  std::chrono::milliseconds timeout{10'000};
  /// Time for one server to accept a connection and the session. Zero: timeout / 5 for three or four
  /// servers, timeout / 10 for five or six, and so on: timeout / (5 k), where k of them may be silent at the same time.
  /// For one server timeout / 2, for two timeout / 3. At least 100 ms.
  std::chrono::milliseconds connect_timeout{0};
  /// Path put in front of every path, "" or "/a/b". It must exist: see `create_root`.
  std::string root{};
  /// Create the root path, open to everybody, if it is missing when a connection is established.
  bool create_root = false;
  /// Every connection begins with these; `session::async_add_credentials` adds others. At most 64 KiB together, users
  /// and secrets.
  std::vector<credentials> digest{};
  /// TLS to every server of `hosts`, whose ports have to be the secure ones. Unset: plain text.
  std::optional<tls_options> tls{};
  /// ACL of each node that we create without an ACL of its own. Empty: open to everybody. No NUL bytes.
  acl default_acl{};
  lease_mode lease = lease_mode::standard;
  /// Safety margin: the lease ends this long before the session could. Zero: a tenth of the negotiated timeout. Else 1
  /// ms to `timeout`; at most half of the negotiated timeout counts.
  std::chrono::milliseconds lease_margin{0};
  retry_policy retry{};
  /// The largest request that the servers accept, in bytes: their `jute.maxbuffer`. 1 KiB to 1 GiB. A larger request
  /// completes with `too_large`, unsent, because the server would close the connection, and all requests in flight on
  /// it would be lost.
  std::size_t jute_maxbuffer = 0xfffff;
  trace_hook trace{};
  /// Told of each change of the session and of what fails, with the reason; by default warnings and errors go to
  /// standard error. Null: nothing is told. With a log and a root each new ZooKeeper session begins with one more
  /// request: a look whether the root exists and may be read.
  log_hook log = &log_to_stderr;
  /// Path of the socket of the guardian of this machine (`zkrecipes-guardian`), at most 107 bytes. Empty: none. When
  /// the process has died, the guardian ends its sessions at once, and says in the records of the terms that it led
  /// that their leader has died. An absent guardian changes nothing else: see `session_status::is_guarded`. The session
  /// has to be made after the last `fork` of a program that goes on in the child, because it is the parent's.
  ///
  /// "child:" and the path of that program, or its name in PATH: the session starts a guardian of its own as a child of
  /// the process. It does not outlive what kills a whole unit or container.
  std::string guardian{};
  /// The guardian kills the process if the session's executor runs nothing for so long, and then does the same. 0: it
  /// does not. Else 1 s to 1 h. A process that is stopped by a debugger or a signal is killed, too.
  std::chrono::milliseconds hang_limit{0};
};

}  // namespace zkrecipes
