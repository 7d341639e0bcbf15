// Redis streams as a source of messages for consumers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/system/error_code.hpp>

#include <zkrecipes/consumer/message_feed.hpp>
#include <zkrecipes/consumer/source_base.hpp>
#include <zkrecipes/error.hpp>
#include <zkrecipes/queue_base.hpp>
#include <zkrecipes/session.hpp>
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

/// The log of the session (`session_options::log`) tells the words of the broker.
enum class redis_errc {
  /// The broker can not be reached, does not answer, is no primary, or can not serve at present. It is tried again.
  unavailable = 1,
  refused_credentials,  ///< The broker refuses user or password, or does not let the user do what is needed.
  refused,              ///< The broker refuses a command for another reason: it may be too old (before 6.2).
  other_node,           ///< The broker is part of a Redis Cluster that keeps the stream elsewhere: not supported.
  unexpected_reply,     ///< A reply has not the form that Redis gives it.
  /// The stream has lost entries that were consumed, and perhaps others: see `redis_options::regress`.
  source_regressed,
};

/// The category of `redis_errc`; its name is "zkrecipes.redis".
const boost::system::error_category& redis_category() noexcept;

error_code make_error_code(redis_errc value) noexcept;

}  // namespace zkrecipes

template <>
struct boost::system::is_error_code_enum<zkrecipes::redis_errc> : std::true_type {};

namespace zkrecipes {

/// Messages that are kept in Redis, consumed under the fence of a leader or of a shard's owner. A shard is a stream.
/// The position of a group in it is kept in ZooKeeper, and moves in the same transaction as the effects. So effects in
/// ZooKeeper happen once, whatever is killed; the broker has no consumer group, and is sent no acknowledgement.
/// A `redis_producer` puts exactly once; any client of Redis puts with `XADD orders:7 * key smith data tea`, where 7 is
/// `shard_of("smith")`. docs/recipes/redis.md has an example, the guarantees, and what the broker has to be set to.
/// Needs the component `redis`. Thread safety: safe.
class redis_streams : public source_base {
 public:
  redis_streams() = default;  ///< Stands for nothing: `feed` throws, and operations complete with `closed`.
  /// `path`: where positions and dead letters are kept. Its record is compared when a feed is used first:
  /// `size_mismatch` (another number of shards), `foreign_data` (another stream, or no record of ours).
  /// \throws std::invalid_argument naming the bad path or option.
  redis_streams(session over, std::string path, redis_options options);

  /// The key of the stream of a shard in Redis.
  std::string stream_of(std::uint32_t shard) const;

  /// The messages of one shard, for a `queue_consumer` of this group: one process at a time should consume a shard for
  /// a group, under an election or a shard group. The first use of a name makes the group: it begins with the first
  /// entry that is there. `message::name` is the id of the entry. A consumer has one connection to the broker for each
  /// shard.
  ///
  /// The run of the consumer ends with `career_failed` for `redis_errc` other than `unavailable` and
  /// `refused_credentials`, for `foreign_data` (the key holds something else than a stream, or a record at the path is
  /// not ours) and `size_mismatch`. While the broker is away, or refuses the credentials, the consumer waits.
  /// \throws std::invalid_argument if there is no such shard, if the name of the group is not 1 to 256 bytes without
  /// slash and what ZooKeeper refuses in paths, or if the object was made by default.
  message_feed feed(std::uint32_t shard, std::string group) const;

  using source_base::async_lag;
  using source_base::async_revive;
  using source_base::async_seek;

  const redis_options& options() const noexcept;
};

}  // namespace zkrecipes
