// Redis streams as a source of messages for consumers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/message_feed.hpp>
#include <zkrecipes/queue_types.hpp>
#include <zkrecipes/redis_error.hpp>
#include <zkrecipes/redis_options.hpp>
#include <zkrecipes/redis_position.hpp>
#include <zkrecipes/redis_types.hpp>
#include <zkrecipes/session.hpp>
#include <zkrecipes/shard.hpp>

namespace zkrecipes {

namespace detail {
class redis_core;
}

/// Messages that are kept in Redis, consumed under the fence of a leader or of a shard's owner. A shard is a stream.
/// The position of a group in it is kept in ZooKeeper, and moves in the same transaction as the effects. So effects in
/// ZooKeeper happen once, whatever is killed; the broker has no consumer group, and is sent no acknowledgement.
/// A `redis_producer` puts exactly once; any client of Redis puts with `XADD orders:7 * key smith data tea`, where 7 is
/// `shard_of("smith")`. docs/recipes/redis.md has an example, the guarantees, and what the broker has to be set to.
/// Needs the component `redis`. Thread safety: safe.
class redis_streams {
 public:
  using executor_type = session::executor_type;

  redis_streams() = default;  ///< Stands for nothing: `feed` throws, and operations complete with `closed`.
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
  /// group is not 1 to 256 bytes without slash and what ZooKeeper refuses in paths, or if the object was made by
  /// default.
  message_feed feed(std::uint32_t shard, std::string group) const;

  /// Lets a group go on at another place of a stream: replay, or skip. Entries are processed again, or not at all, as
  /// the place says; their effects, too. A consumer that is at work notices before its next commit: nothing of what it
  /// has in hand is committed, and it goes on at the new place. A replay finds what is still kept.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `bad_arguments` (no such shard, no name of a group, or no id), `size_mismatch`, `foreign_data`, `no_auth`,
  /// `redis_errc` (the broker is asked for the place unless that is the begin; `unavailable` when the time for retries
  /// of the session is over), and those of `session`.
  /// Cancellation: all types; the position may have been written.
  /// Thread safety: as the class says.
  /// Cost: 2 round trips, 2 requests, and for a place that is not the begin a connection to the broker and 1 command;
  /// for a new group 2 more; after a lost reply 1 look more, which tells whether the position was written.
  template <token_for<> Token = default_token>
  auto async_seek(std::uint32_t shard, std::string group, redis_position where, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_seek, core_, shard, std::move(group), std::move(where));
  }

  /// Reads what a group has still to consume, for each shard. A group without a position has to consume everything.
  ///
  /// Signature: `void(error_code, std::vector<redis_lag>)`.
  /// Errors: `no_node` (nobody has used the path yet), `bad_arguments` (no name of a group), `size_mismatch`,
  /// `foreign_data`, `no_auth`, `redis_errc` (as `async_seek`), and those of `session`.
  /// Cancellation: all types.
  /// Thread safety: as the class says.
  /// Cost: a connection to the broker; 1 round trip, and for each hundred shards 1 to ZooKeeper and 1 to the broker,
  /// with 1 request and 1 script for each shard. A script takes the broker some milliseconds if it counts to 10 000.
  template <token_for<std::vector<redis_lag>> Token = default_token>
  auto async_lag(std::string group, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::vector<redis_lag>)>(token, &start_lag, core_, std::move(group));
  }

  /// Reads the dead letters of a group, oldest first. `dead_letter::item` is the shard, a slash, and the id of the
  /// entry. With an error the letters are those that were read before it.
  ///
  /// Signature: `void(error_code, std::vector<dead_letter>)`.
  /// Errors: `bad_arguments` (no name of a group), `no_auth`, and those of `session`.
  /// Cancellation: all types.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, and 1 for each hundred letters; 1 request, and 1 for each letter.
  template <token_for<std::vector<dead_letter>> Token = default_token>
  auto async_dead_letters(std::string group, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::vector<dead_letter>)>(token, &start_dead_letters, core_,
                                                                        std::move(group));
  }

  /// Puts a dead letter back at the end of its stream, as a new entry with its key and data, and removes the letter
  /// then. All groups get the entry, those that had processed it, too. Two systems take part: with any other error than
  /// `no_node`, `bad_arguments`, `too_large`, `size_mismatch` and `foreign_data` the entry may have been put, and the
  /// letter may be there.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `no_node` (the letter is not there any more, or nobody has used these streams), `outcome_unknown` (the
  /// broker's reply was lost), `bad_arguments` (`which` is no letter of these streams, or no name of a group),
  /// `too_large` (a part of the message is not in the letter: see `dead_letter::missing_bytes`),
  /// `size_mismatch` and `foreign_data` (as `async_seek`), `no_auth`, `redis_errc` (as `async_seek`), and those of
  /// `session`.
  /// Cancellation: all types; the entry may have been put, and the letter removed.
  /// Thread safety: as the class says.
  /// Cost: 3 round trips, 3 requests; a connection to the broker, and 1 command.
  template <token_for<> Token = default_token>
  auto async_revive(std::string group, dead_letter which, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_revive, core_, std::move(group), std::move(which));
  }

  /// Removes a dead letter for good.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `no_node`, `outcome_unknown` (a reply was lost, and the letter has gone), `bad_arguments` (a name with a
  /// slash, or no name of a group), `no_auth`, and those of `session`.
  /// Cancellation: all types; the letter may have been removed.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 1 request.
  template <token_for<> Token = default_token>
  auto async_discard(std::string group, dead_letter which, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_discard, core_, std::move(group), std::move(which));
  }

  const std::string& path() const noexcept;
  const session& get_session() const noexcept { return session_; }
  executor_type get_executor() const noexcept { return session_.get_executor(); }
  std::uint32_t shards() const noexcept;

  /// For the library; the type is not public.
  using core_ptr = std::shared_ptr<detail::redis_core>;
  const core_ptr& get_core() const noexcept { return core_; }

 private:
  template <class... Results>
  using handler = detail::handler_for<void(error_code, Results...)>;
  static void start_seek(handler<>, core_ptr, std::uint32_t, std::string, redis_position);
  static void start_lag(handler<std::vector<redis_lag>>, core_ptr, std::string);
  static void start_dead_letters(handler<std::vector<dead_letter>>, core_ptr, std::string);
  static void start_revive(handler<>, core_ptr, std::string, dead_letter);
  static void start_discard(handler<>, core_ptr, std::string, dead_letter);

  session session_;
  core_ptr core_;
};

}  // namespace zkrecipes
