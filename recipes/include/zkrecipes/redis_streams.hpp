// Redis streams as a source of messages for consumers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <zkrecipes/message_feed.hpp>
#include <zkrecipes/redis_error.hpp>
#include <zkrecipes/redis_options.hpp>
#include <zkrecipes/session.hpp>
#include <zkrecipes/shard.hpp>

namespace zkrecipes {

namespace detail {
struct redis_frame;
}

/// Messages that are kept in Redis, consumed under the fence of a leader or of a shard's owner. A shard is a stream.
/// The position of a group in it is kept in ZooKeeper, and moves in the same transaction as the effects. So effects in
/// ZooKeeper happen once, whatever is killed; the broker has no consumer group, and is sent no acknowledgement.
/// Producers put with `XADD orders:7 * key smith data tea`, where 7 is `shard_of("smith")`. docs/recipes/redis.md has
/// an example, the guarantees, and what the broker has to be set to. Needs the component `redis`. Thread safety: safe.
class redis_streams {
 public:
  redis_streams() = default;  ///< Stands for nothing: `feed` throws.
  /// `path`: where positions and dead letters are kept. Its record is compared when a feed is used first:
  /// `size_mismatch` (another number of shards), `foreign_data` (another stream, or no record of ours).
  /// \throws std::invalid_argument naming the bad path or option.
  redis_streams(session over, std::string path, redis_options options);

  std::uint32_t shard_of(std::string_view key) const noexcept { return zkrecipes::shard_of(key, shards()); }
  /// The key of the stream of a shard in Redis.
  std::string stream_of(std::uint32_t shard) const;

  /// The messages of one shard, for a `queue_consumer` of this group: one process at a time should consume a shard for
  /// a group, under an election or a shard group. The first use of a name makes the group: it begins with the first
  /// entry that is there. `message::name` is the id of the entry. A consumer has one connection to the broker for each
  /// shard.
  ///
  /// The run of the consumer ends with `career_failed` for `redis_errc` other than `unavailable`, for `foreign_data`
  /// (the key holds something else than a stream, or a record at the path is not ours) and `size_mismatch`. While the
  /// broker is away, the consumer waits. \throws std::invalid_argument if there is no such shard, if the name of the
  /// group is not 1 to 256 bytes without slash and control characters, or if the object was made by default.
  message_feed feed(std::uint32_t shard, std::string group) const;

  const std::string& path() const noexcept;
  const session& get_session() const noexcept { return session_; }
  session::executor_type get_executor() const noexcept { return session_.get_executor(); }
  std::uint32_t shards() const noexcept;

 private:
  session session_;
  std::shared_ptr<const detail::redis_frame> frame_;
};

}  // namespace zkrecipes
