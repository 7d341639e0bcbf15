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
#include <zkrecipes/consumer/shard.hpp>
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

/// What a group has still to consume of a stream.
struct redis_lag {
  std::uint32_t shard = 0;
  /// Entries behind the position, with those that were settled ahead of others. 10 000 at most are counted.
  std::uint64_t messages = 0;
  bool is_more = false;  ///< There are more of them.
  /// For how long the first of them has been there, by the clock of the broker and that of this machine.
  std::chrono::milliseconds oldest{0};
};

/// A place in a stream, where a group is to go on.
class redis_position {
 public:
  /// In front of all that is kept.
  static redis_position begin() { return {kind::begin, {}}; }
  /// Behind all that was ever put.
  static redis_position end() { return {kind::end, {}}; }
  /// In front of the entry with this id (`message::name`), or of the first one behind it.
  static redis_position at(std::string id) { return {kind::at, std::move(id)}; }

  enum class kind { begin, end, at };
  kind what() const noexcept { return what_; }
  const std::string& id() const noexcept { return id_; }

 private:
  redis_position(kind what, std::string id) : what_(what), id_(std::move(id)) {}

  kind what_;
  std::string id_;
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
  /// The run of the consumer ends with `career_failed` for `redis_errc` other than `unavailable` and
  /// `refused_credentials`, for `foreign_data` (the key holds something else than a stream, or a record at the path is
  /// not ours) and `size_mismatch`. While the broker is away, or refuses the credentials, the consumer waits. \throws
  /// std::invalid_argument if there is no such shard, if the name of the group is not 1 to 256 bytes without slash and
  /// what ZooKeeper refuses in paths, or if the object was made by default.
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
