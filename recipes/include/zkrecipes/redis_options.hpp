// Settings of Redis streams as a source of messages.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <zkrecipes/session_options.hpp>
#include <zkrecipes/tls_options.hpp>

namespace zkrecipes {

/// What a consumer does when a stream has lost entries that its group has consumed, or was about to read: a fail-over
/// to a replica that lagged behind, or a broker that was killed before its disk had what it had acknowledged. The log
/// tells it in both cases, with `redis_errc::source_regressed`, when a consumer connects.
enum class redis_regress {
  stop_the_run,  ///< The run of the coordinator ends with `career_failed`, until an operator has decided.
  /// The consumer settles what it has in hand, goes back to the present end of the stream, and goes on with what is put
  /// from then on. What was lost and not consumed stays lost.
  go_on,
};

/// Settings of `redis_streams`.
struct redis_options {
  /// Brokers as "host:port[,host:port...]"; a missing port means 6379; IPv6 addresses in brackets. They are tried in
  /// this order until one is a primary.
  std::string hosts{};
  /// The user of an ACL; empty: the default user. No NUL byte.
  std::string user{};
  /// Kept in memory only: it is never logged and never part of an error. Empty: no authentication. No NUL byte.
  std::string password{};
  std::uint32_t database = 0;
  /// Secure connections to the brokers, as `session_options::tls`; none: plain text. `hosts` has the names that the
  /// certificates have to have.
  std::optional<tls_options> tls{};
  /// The keys of the streams are this and the number of the shard: `orders:7`. 1 to 256 bytes without control
  /// characters.
  std::string stream{};
  /// Written to the path by the first that uses it, and the same for all from then on. 1 to 10 000.
  std::uint32_t shards = 256;
  /// The fields of an entry. One without the field of the data becomes a dead letter; without that of the key it has
  /// the empty key. Neither is empty, and they differ. An entry may be larger than a dead letter: see
  /// `dead_letter::missing_bytes`.
  std::string key_field = "key";
  std::string data_field = "data";
  /// Consumers remove from a stream what all of these groups have consumed (`XTRIM`), now and then. A group that has no
  /// position yet keeps everything, and so does one whose last consumed entry the broker has lost. Empty: nothing is
  /// removed, because other programs may read the streams, and the log tells it from 1 000 000 entries on.
  std::vector<std::string> groups{};
  redis_regress regress = redis_regress::stop_the_run;
  /// Most entries that are read at once; up to twice as many wait to be processed. Fewer if they are large: what waits
  /// in all shards of a `redis_streams` is about 64 MiB at most, which its consumers share equally. 1 to 100 000.
  std::size_t read_ahead = 1'000;
  /// Time for a broker to accept a connection, and to begin with the answer to a command: as long as bytes of it come,
  /// or a large command is being sent, it begins anew. 10 ms to 1 h.
  std::chrono::milliseconds timeout{5'000};
  /// Pauses between tries to connect (`limit` does not count here). They double and vary by +-50 % at random.
  retry_policy retry{};
};

}  // namespace zkrecipes
