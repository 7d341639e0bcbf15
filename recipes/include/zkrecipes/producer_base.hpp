// What the producers of queues, topics, Redis streams and RabbitMQ queues have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/session.hpp>

namespace zkrecipes {

/// A message of a topic, a Redis stream or a queue of RabbitMQ. An item of a queue has no key.
struct topic_message {
  std::string key{};  ///< Messages of one key stay in order.
  std::string data{};
};

namespace detail {

class producer_core;

/// The compiled part of the operations that all producers share.
struct producer_operations {
  using handler = handler_for<void(error_code, std::uint64_t)>;
  using core_ptr = std::shared_ptr<producer_core>;
  static void put(handler, core_ptr, std::string, std::string);
  static void put_all(handler, core_ptr, std::vector<topic_message>);
  static void last(handler, core_ptr);
};

}  // namespace detail

/// Puts into a queue (`producer`), a topic (`topic_producer`), Redis streams (`redis_producer`) or queues of RabbitMQ
/// (`rabbit_producer`), whatever happens to replies, connections and sessions: each of them says what it promises. One
/// that was made by default or moved from stands for nothing: its operations complete with `closed`. A copy stands for
/// the same producer, also one of the base alone. Thread safety: safe.
///
/// A `spooled_producer` is none of them: its puts complete when a file has the message, and it ends with its object.
class producer_base {
  using operations = detail::producer_operations;

 public:
  using executor_type = session::executor_type;

  /// Appends one message to the shard of its key, and completes with its number when it is there for good: in the queue
  /// or topic, or acknowledged by the broker (RabbitMQ: a majority of the queue's members has it on disk), for however
  /// long that is away (RabbitMQ: or asks producers to stop, or rejects). Messages put in order arrive in order within
  /// a shard (RabbitMQ: as long as the broker does not reject one and take one behind it, as a queue with a
  /// limit and `reject-publish` can). Numbers follow each other for all that one name has put; of RabbitMQ it is the
  /// number in the message's id: that in its queue since this object has begun, or begun anew after an error. A queue
  /// or topic that was removed meanwhile is made again, and the numbers begin anew. After `connection_loss` the message
  /// may have been put, or be put yet: `async_last` tells, which all but RabbitMQ have.
  ///
  /// A queue has no shards and no keys: the key has to be empty. Its items have at most 1 000 000 bytes, key and data
  /// in a topic together as many (50 000 less if it has a path of more than 1 000 bytes), those for a broker 64 MiB, of
  /// which RabbitMQ may accept less (`max_message_size`). The key has at most 1 000 bytes in a topic and for RabbitMQ.
  ///
  /// Signature: `void(error_code, std::uint64_t)`.
  /// Errors: `too_large` (nothing was sent), `foreign_data` (the path, or the producer's record, belongs to another
  /// recipe, or a key of Redis holds something else), `no_auth`, and those of `session`.
  /// - All but RabbitMQ: `superseded` (another producer of this name has put something in between, or a put of ours
  ///   that had failed was done late; in Redis: another object of this name has begun since, or a try of this one to
  ///   begin has come late). It was not put; but an item of a queue may have been, if its reply was lost as well.
  /// - Topic and Redis: `outcome_unknown` (the same, or a refusal, after a lost reply: it may have been put).
  /// - All but a queue: `size_mismatch` (the path is used with another number of shards).
  /// - Queue: `bad_arguments` (a key), `full` (see `queue_options`; the item was not put), `sequence_exhausted` (as
  ///   `queue::async_put`).
  /// - Topic: `full` (the shard has 40 000 batches: nothing removes them), `sequence_exhausted` (all numbers for
  ///   batches of the shard but the last million are used up; nothing was put).
  /// - Redis: `redis_errc` (`unavailable` is waited out; `source_regressed`: the broker has lost messages of this
  ///   producer that it had acknowledged, or its key, and `redis_options::regress` is `stop_the_run`).
  /// - RabbitMQ: `rabbit_errc` (`unavailable` is waited out; `missing_queue`: the queue was there and was deleted,
  ///   the message is in no queue, and later puts into it fail the same way until a consumer or another producer has
  ///   made it anew; `other_queue`: it is no quorum queue with a single active consumer; `refused`: the broker does
  ///   not accept this message). With an error of the session, or `refused_credentials` or `unexpected_reply`, the
  ///   message may have been put; with others it is in no queue.
  ///
  /// Cancellation: all types; it ends the wait, and the message is put all the same. But one for a topic is forgotten
  /// when there is no connection for `retry_policy::limit`. One for a queue, cancelled without a connection, is
  /// forgotten if it was not sent, also when `connection_loss` ends the wait, and not sent again if it was.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 1 request for all that travel together.
  /// - Queue: before it the wait of up to `linger`; with a `limit` as `queue::async_put`; the first batch 1 round
  ///   trip more to read the node (4 if the node is new), and the look of `queue::async_put` at the list.
  /// - Topic: the same wait; the first put 1 round trip more to read the node (5 if the topic is new), the first of
  ///   each shard 2 more if its folder is missing.
  /// - Redis: to the broker, 1 script; the first put, and the first after an error, 1 more, and 1 to ZooKeeper (2 to
  ///   4 if the path is new); each new connection 1 more.
  /// - RabbitMQ: 1 message to the broker; the first put of an object, and the first after an error that has ended all
  ///   puts, 3 round trips to ZooKeeper (up to 8 if the path is new); the first put into a queue 1 command, and the
  ///   first on each connection is alone: those behind it, into the same queue, wait for its confirm.
  template <token_for<std::uint64_t> Token = default_token>
  auto async_put(std::string key, std::string data, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::uint64_t)>(token, &operations::put, core_, std::move(key),
                                                             std::move(data));
  }

  /// Appends many messages, in order, and completes when all of them are there: for more messages a second than
  /// `async_put` takes, because a message costs no completion of its own. They travel in as many transactions or
  /// batches as they need; the whole is not all or nothing, but each transaction of a queue or topic is, and the
  /// numbers are consecutive there, unless it is removed meanwhile. The first message that can not be put ends this
  /// call and no other, and none behind it is put. The result is how many are known to be there, from the first on. No
  /// messages: it completes at once with 0.
  ///
  /// RabbitMQ: messages behind the first that can not be put, which were sent already, may be put; they are not part of
  /// the result, even if they have been confirmed, and are not sent again. The call ends when those in front of it are
  /// confirmed; with an error of the session, `refused_credentials` or `unexpected_reply` at once, and what was sent
  /// and not confirmed may be put.
  ///
  /// Signature: `void(error_code, std::uint64_t)`.
  /// Errors: those of `async_put`; `too_large` and `bad_arguments` if they hold for one of the messages (nothing was
  /// sent). With `outcome_unknown` or an error of the session, and of a queue with `superseded`, messages behind those
  /// of the result may be there, too.
  /// Cancellation: as `async_put`, for each message; the result is 0, of a queue how many were put until then.
  /// Thread safety: as the class says.
  /// Cost: as `async_put`. A topic: 1 request for each full transaction, and 1 round trip for up to 32 of them.
  template <token_for<std::uint64_t> Token = default_token>
  auto async_put_all(std::vector<topic_message> messages, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::uint64_t)>(token, &operations::put_all, core_, std::move(messages));
  }

  const std::string& path() const noexcept;  ///< That of the queue, topic, streams or queues.
  const session& get_session() const noexcept { return session_; }
  executor_type get_executor() const noexcept { return session_.get_executor(); }

  /// For the library; the type is not public.
  using core_ptr = std::shared_ptr<detail::producer_core>;
  const core_ptr& get_core() const noexcept { return core_; }

 protected:
  producer_base() = default;
  producer_base(session over, core_ptr core);

  /// Reads the number of the last message that this name has put, 0 if there is none: it tells where to go on after a
  /// restart, and after an error (all but RabbitMQ). Creates the queue or topic, and the node of the producer, if they
  /// are missing. In Redis it takes the name over from other objects like a put, and waits for the puts that were
  /// called before it; if it finds that another object has put messages, or that the broker has lost some, the puts
  /// that were called meanwhile end with `superseded` or `source_regressed`.
  ///
  /// Signature: `void(error_code, std::uint64_t)`.
  /// Errors: `foreign_data`, `no_auth`, and those of `session`; `size_mismatch` of a topic whose node was missing, and
  /// of Redis, with those of `redis_errc` but `source_regressed`.
  /// Cancellation: all types; the nodes may have been created, and the name is taken over all the same.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 2 requests; for a new node 4 round trips, for a new topic 5. Redis: 1 round trip to the
  /// broker; for the first operation of an object, and the first after an error, those to ZooKeeper besides; each new
  /// connection 1 more.
  template <token_for<std::uint64_t> Token = default_token>
  auto async_last(Token&& token = Token()) {
    return detail::initiate<void(error_code, std::uint64_t)>(token, &operations::last, core_);
  }

 private:
  session session_;
  core_ptr core_;
};

}  // namespace zkrecipes
