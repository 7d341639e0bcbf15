// How a session behaves. Bad values are refused by the constructor of `session` with a message naming the field.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <zkrecipes/node.hpp>
#include <zkrecipes/trace.hpp>

namespace zkrecipes {

/// What counts as proof that the ensemble still knows our session.
enum class lease_mode {
  standard,  ///< Any answered request. A server cut off from its leader can answer some: see docs/guarantees.md.
  /// Only what a quorum vouches for: no overlap of beliefs without pauses, under the conditions of docs/guarantees.md. Each
  /// session, whether it holds something or not, has a `sync` and an empty transaction made about every 0.3 of its timeout,
  /// which costs the ensemble a write to its log; its own writes count instead. The timeout has to be two ticks at least (the
  /// servers' usual lower bound) and a dozen slow round trips, else the lease lapses again and again.
  strict,
};

/// Which lost operations are tried again, and when. Reads and conditional operations whose effect can be told are;
/// others complete with `connection_loss`. What a server is too busy for (it throttles) was not done and is tried again, too.
struct retry_policy {
  /// How long an operation may wait for a connection and be tried again. Zero: for as long as the session lives.
  std::chrono::milliseconds limit{30'000};
  /// Pause after a round in which no server could be reached; doubles up to `max_pause`, +-50 % at random. 1 ms to 1 h.
  std::chrono::milliseconds first_pause{50};
  std::chrono::milliseconds max_pause{2'000};
};

/// Digest credentials. The secret is kept in memory only, never logged, never part of an error.
struct credentials {
  std::string user;
  std::string password;
};

struct session_options {
  /// Servers as "host:port[,host:port...][/root]"; a missing port means 2181; IPv6 addresses in brackets.
  /// A root given here is put in front of `root`. One server by two addresses, or behind a proxy for several, is taken for
  /// two: see "What a lost request can still do" in docs/reliability.md.
  std::string hosts{};
  /// Session timeout to ask the server for (it has bounds of its own). 100 ms to 1 h.
  std::chrono::milliseconds timeout{10'000};
  /// Time for one server to accept a connection and the session. Zero: timeout / (servers + 1), at least 100 ms.
  std::chrono::milliseconds connect_timeout{0};
  /// Path put in front of every path, "" or "/a/b". It must exist: see `create_root`.
  std::string root{};
  /// Create the root path, if it is missing, when the session is established.
  bool create_root = false;
  std::vector<credentials> digest{};
  /// ACL of every node we create where the operation names none. Empty: open to everybody.
  acl default_acl{};
  lease_mode lease = lease_mode::standard;
  /// Safety margin by which a lease ends before the session could. Zero: a tenth of the negotiated timeout.
  std::chrono::milliseconds lease_margin{0};
  retry_policy retry{};
  /// What the servers take in one request, in bytes: their `jute.maxbuffer`. 1 KiB to 1 GiB. What is larger is refused
  /// with `too_large`; it would cost the connection, and all that is under way on it.
  std::size_t jute_maxbuffer = 0xfffff;
  trace_hook trace{};
};

}  // namespace zkrecipes
