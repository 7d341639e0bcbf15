// What topics, Redis streams, RabbitMQ queues and sources of the user's have in common.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/shard.hpp>
#include <zkrecipes/queue_base.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

/// What a group has still to consume of a shard. For RabbitMQ: what is ready to be delivered; what consumers have and
/// have not settled does not count.
struct source_lag {
  std::uint32_t shard = 0;
  /// With those that were settled ahead of others in a Redis stream, of which 10 000 at most are counted.
  std::uint64_t messages = 0;
  bool is_more = false;     ///< There may be more of them (Redis: behind 10 000, or 16 MiB).
  std::size_t batches = 0;  ///< They are in so many batches (topic).
  /// For how long the first of them has been there, by the clock of the server or broker that took it and that of this
  /// machine; RabbitMQ does not tell.
  std::chrono::milliseconds oldest{0};
  std::uint32_t consumers = 0;  ///< Connected to the queue; one of them gets messages (RabbitMQ).
  /// There is no such queue: no producer or consumer has used it, or it was deleted (RabbitMQ).
  bool is_missing = false;
};

/// A place in a shard, where a group is to go on.
class source_position {
 public:
  /// In front of all that is kept.
  static source_position begin() { return {kind::begin, {}}; }
  /// Behind all that was ever put.
  static source_position end() { return {kind::end, {}}; }
  /// In front of the message with this name (`message::name`). If it is not kept any more, in front of what comes
  /// behind it; if nothing does, behind all that was put.
  static source_position at(std::string name) { return {kind::at, std::move(name)}; }

  enum class kind { begin, end, at };
  kind what() const noexcept { return what_; }
  const std::string& name() const noexcept { return name_; }

 private:
  source_position(kind what, std::string name) : what_(what), name_(std::move(name)) {}

  kind what_;
  std::string name_;
};

namespace detail {

class source_core;

/// The compiled part of the operations that all sources share: each starts a coroutine on the strand of the session.
struct source_operations {
  template <class... Results>
  using handler = handler_for<void(error_code, Results...)>;
  using core_ptr = std::shared_ptr<source_core>;
  static void seek(handler<>, core_ptr, std::uint32_t, std::string, source_position);
  static void lag(handler<std::vector<source_lag>>, core_ptr, std::string);
  static void dead_letters(handler<std::vector<dead_letter>>, core_ptr, std::string);
  static void revive(handler<>, core_ptr, std::string, dead_letter);
  static void discard(handler<>, core_ptr, std::string, dead_letter);
};

}  // namespace detail

/// A source of messages in shards, consumed under the fence of a leader or of a shard's owner: `topic`,
/// `redis_streams`, `rabbit_queues`, `external_source`. Each offers those of these operations that it can do, and has
/// `feed` and `options`. What a group has consumed is kept in ZooKeeper, and moves in the same transaction as the
/// effects of its messages. Errors of a broker (`redis_errc`, `rabbit_errc`) come besides those that are named here;
/// `unavailable` when the time for retries of the session is over. Thread safety: safe.
class source_base {
  using operations = detail::source_operations;

 public:
  using executor_type = session::executor_type;

  /// The group of a source that has no others: `rabbit_queues`, and an `external_queue`.
  static constexpr const char* queue_group = "consumers";

  std::uint32_t shard_of(std::string_view key) const noexcept { return zkrecipes::shard_of(key, shards()); }

  /// Reads the dead letters of a group, oldest first. `dead_letter::item` is the shard, a slash, and the message's
  /// name. With an error the letters are those that were read before it.
  ///
  /// Signature: `void(error_code, std::vector<dead_letter>)`.
  /// Errors: `bad_arguments` (no name of a group), `no_auth`, and those of `session`.
  /// Cancellation: all types.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, and 1 for each hundred letters; 1 request, and 1 for each letter.
  template <token_for<std::vector<dead_letter>> Token = default_token>
  auto async_dead_letters(std::string group, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::vector<dead_letter>)>(token, &operations::dead_letters, core_,
                                                                        std::move(group));
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
    return detail::initiate<void(error_code)>(token, &operations::discard, core_, std::move(group), std::move(which));
  }

  const std::string& path() const noexcept;
  const session& get_session() const noexcept { return session_; }
  executor_type get_executor() const noexcept { return session_.get_executor(); }
  std::uint32_t shards() const noexcept;

  /// For the library; the type is not public.
  using core_ptr = std::shared_ptr<detail::source_core>;
  const core_ptr& get_core() const noexcept { return core_; }

 protected:
  source_base() = default;
  source_base(session over, core_ptr core);
  ~source_base() = default;
  source_base(const source_base&) = default;
  source_base(source_base&&) = default;
  source_base& operator=(const source_base&) = default;
  source_base& operator=(source_base&&) = default;

  /// Lets a group go on at another place of a shard: replay, or skip (topics and Redis streams). Messages are processed
  /// again, or not at all, as the place says; their effects, too. A consumer that is at work notices before its next
  /// commit: nothing of what it has in hand is committed, and it goes on at the new place. A replay finds what is still
  /// kept. With `queue_consumer_options::repeats` numbers that are in the group's marks are acknowledged unprocessed:
  /// for a replay of all, stop the consumer and remove the marks first.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `bad_arguments` (no such shard, no name of a group, or no name of a message), `size_mismatch`,
  /// `foreign_data`, `no_auth`, and those of `session`.
  /// Cancellation: all types; the position may have been written.
  /// Thread safety: as the class says.
  /// Cost: 2 round trips, 2 requests; for a place in a topic that is not the begin 1 more with 2 requests, the list of
  /// the shard behind a catch-up; for one in a Redis stream a connection to the broker and 1 command; for a new group 2
  /// more; after a lost reply 1 look more, which tells whether the position was written.
  template <token_for<> Token = default_token>
  auto async_seek(std::uint32_t shard, std::string group, source_position where, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &operations::seek, core_, shard, std::move(group),
                                              std::move(where));
  }

  /// Reads what a group has still to consume, for each shard, as our server or the broker shows it. A group without a
  /// position has to consume everything. With an error the shards are those that were read before it; of RabbitMQ none.
  ///
  /// Signature: `void(error_code, std::vector<source_lag>)`.
  /// Errors: `no_node` (nobody has used the path yet), `bad_arguments` (no name of a group), `size_mismatch`,
  /// `foreign_data`, `no_auth`, and those of `session`.
  /// Cancellation: all types.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip and 1 request. A topic: 2 round trips for each hundred shards, 3 requests for each shard, one
  /// of whose replies has the names of all batches. Redis: a connection to the broker, and for each hundred shards 1
  /// round trip to ZooKeeper and 1 to the broker, with 1 request and 1 script for each shard, which takes the broker
  /// some milliseconds if it counts to 10 000. RabbitMQ: a connection to the broker and 1 command for each shard, up to
  /// 100 together; a round trip more for each queue that is missing.
  template <token_for<std::vector<source_lag>> Token = default_token>
  auto async_lag(std::string group, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::vector<source_lag>)>(token, &operations::lag, core_,
                                                                       std::move(group));
  }

  /// Puts a dead letter back at the end of its shard, as a new message with its key and data, and removes the letter
  /// (all but sources of the user's). All groups get the message, those that had processed it, too. In a topic it is
  /// one transaction. With a broker two systems take part: with any other error than `no_node`, `bad_arguments`,
  /// `too_large`, `size_mismatch` and `foreign_data` the message may have been put, and the letter may be there. The id
  /// of a message of RabbitMQ is made of the letter's node, so that a consumer that still knows it drops a second one.
  /// In Redis two calls for a letter at once can both succeed, and put it twice.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `no_node` (the letter is not there any more, or nobody has used the path), `outcome_unknown` (a reply was
  /// lost; of a topic: and the letter has gone, by us, or by another client that revived or discarded it in that
  /// moment), `bad_arguments` (`which` is no letter of this source, or no name of a group), `too_large` (a part of the
  /// message is not in the letter: see `dead_letter::missing_bytes`, or it is more than a producer puts),
  /// `size_mismatch`, `foreign_data`, `no_auth`, `rabbit_errc::missing_queue` (its queue is not there), and those of
  /// `session`.
  /// Cancellation: all types; the message may have been put, and the letter removed.
  /// Thread safety: as the class says.
  /// Cost: of a topic 2 round trips, 2 requests, after a lost reply 1 more. With a broker 3 round trips, 3 requests; a
  /// connection to the broker, and 1 command or message.
  template <token_for<> Token = default_token>
  auto async_revive(std::string group, dead_letter which, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &operations::revive, core_, std::move(group), std::move(which));
  }

 private:
  session session_;
  core_ptr core_;
};

}  // namespace zkrecipes
