// Settings of RabbitMQ queues as a source of messages.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <zkrecipes/session_options.hpp>
#include <zkrecipes/tls_options.hpp>

namespace zkrecipes {

/// Settings of `rabbit_queues`.
struct rabbit_options {
  /// Brokers of one cluster as "host:port[,host:port...]"; a missing port means 5672, or 5671 with `tls`; IPv6
  /// addresses in brackets. They are tried in this order until one takes the connection.
  std::string hosts{};
  /// 1 to 255 bytes, no NUL byte. The broker lets `guest` connect from its own machine only, unless it is told else.
  std::string user = "guest";
  /// Kept in memory only: it is never logged and never part of an error. No NUL byte.
  std::string password = "guest";
  std::string virtual_host = "/";  ///< 1 to 255 bytes.
  /// Secure connections to the brokers, as `session_options::tls`; none: plain text. `hosts` has the names that the
  /// certificates have to have.
  std::optional<tls_options> tls{};
  /// The names of the queues are this and the number of the shard: `orders:7`. 1 to 200 bytes without control
  /// characters.
  std::string queue{};
  /// Written to the path by the first that uses it, and the same for all from then on. 1 to 10 000. A queue costs the
  /// brokers a Raft group, so a few dozen are many.
  std::uint32_t shards = 1;
  /// The header of a message that has its key, as a string; a message without it has the empty key. 1 to 128 bytes.
  std::string key_header = "key";
  /// Most messages that a consumer has of a queue and has not settled. They are kept in its memory. While all of them
  /// wait behind keys that rest, no other key goes on, and the log tells it. None: 200 in strict order, in which more
  /// would be of no use, else 1 000. 1 to 1 000.
  /// If one is parked that is larger than a dead letter may be, its end is lost with the acknowledgement
  /// (`dead_letter::missing_bytes`); `spent_message::stop_the_run` keeps it in the queue.
  std::optional<std::uint32_t> prefetch{};
  /// Time for a broker to accept a connection and to answer. 10 ms to 1 h.
  std::chrono::milliseconds timeout{5'000};
  /// A connection on which nothing has come for twice as long is given up. The broker may ask for less. 1 s to 10 min.
  std::chrono::seconds heartbeat{10};
  /// A consumer that was sent nothing for so long, although its queue has messages for it, connects anew: RabbitMQ 3.10
  /// can forget a consumer when the leader of the queue changes. 100 ms to 1 h.
  std::chrono::milliseconds stall_timeout{5'000};
  /// Pauses between tries to connect (`limit` does not count here). They double and vary by +-50 % at random.
  retry_policy retry{};
};

}  // namespace zkrecipes
