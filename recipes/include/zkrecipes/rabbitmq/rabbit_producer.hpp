// Putting into RabbitMQ queues so that each message is processed once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/topic_types.hpp>
#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

namespace zkrecipes {

namespace detail {
class rabbit_producer_state;
}

/// Puts messages into RabbitMQ queues, each into the queue of the shard of its key. A message gets an id before it is
/// sent, and is sent again with the same id until the broker has confirmed it; a consumer remembers the ids of what it
/// has settled as ranges, for the last epochs of each name (docs/recipes/rabbitmq.md), so effects happen once. The id
/// consists of the name, of the epoch, which is the number of a write to ZooKeeper, and of the number of the message in
/// its queue: after a restart there is another epoch. Up to 1 000 messages or 1 MiB of them are unconfirmed at a time,
/// and further puts wait: so a queue that does not confirm can hold up those into others. The producer makes a queue at
/// its first put into it, and keeps its connection to the broker until it is destroyed or its session is closed.
///
/// The broker knows no fence for producers: if two objects have one name, both go on, with epochs of their own. Use one
/// object for a name at a time: a consumer remembers the last 4 epochs of a name, and the 256 names used last.
/// Needs the component `rabbitmq`. Thread safety: safe.
class rabbit_producer {
 public:
  using executor_type = session::executor_type;

  rabbit_producer() = default;  ///< Stands for nothing: operations complete with `closed`.
  /// `name`: 1 to 200 bytes, no slash, no character that ZooKeeper refuses in paths, and neither "." nor "..".
  /// \throws std::invalid_argument naming the bad name, or if `into` was made by default.
  rabbit_producer(const rabbit_queues& into, std::string name);

  /// Puts one message into the queue of the shard of its key, and completes when the broker has confirmed it: a
  /// majority of the queue's members has it on disk. That is waited for however long the broker is away, or asks
  /// producers to stop, or rejects. The key has at most 1 000 bytes, key and data together 64 MiB; the broker may
  /// accept less (`max_message_size`). Messages put in order arrive in order within a queue, as long as the broker
  /// does not reject one and take one behind it, as a queue with a limit and `reject-publish` can.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `too_large` (nothing was sent), `foreign_data` (the path, or the producer's record, belongs to another
  /// recipe), `size_mismatch` (the path is used with another number of shards), `no_auth`, `rabbit_errc`
  /// (`unavailable` is waited out; `missing_queue`: the queue was there and was deleted, the message is in no queue,
  /// and later puts into it fail the same way until a consumer or another producer has made it anew; `other_queue`: it
  /// is no quorum queue with a single active consumer; `refused`: the broker does not accept this message), and those
  /// of `session`. With an error of the session, or `refused_credentials` or `unexpected_reply`, the message may have
  /// been put; with others it is in no queue.
  /// Cancellation: all types; it ends the wait, and the message is put all the same.
  /// Thread safety: as the class says.
  /// Cost: 1 message to the broker. The first put of an object, and the first after an error that has ended all puts,
  /// 3 round trips to ZooKeeper (up to 8 if the path is new). The first put into a queue 1 command, and the first on
  /// each connection is alone: those behind it, into the same queue, wait for its confirm.
  template <token_for<> Token = default_token>
  auto async_put(std::string key, std::string data, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_put, state_, std::move(key), std::move(data));
  }

  /// Puts many messages, in order, and completes when all of them are confirmed: for more messages a second than
  /// `async_put` takes. The result is how many were put, from the first on. No messages: it completes at once with 0.
  ///
  /// The first message that can not be put ends the call, and no other call, when those in front of it are confirmed:
  /// the result is the number of those. Messages behind it that were not sent yet are not put. Those that were sent
  /// already may be put: they are not part of the result, even if they have been confirmed, and are not sent again.
  /// With an error of the session, `refused_credentials` or `unexpected_reply`, the call ends at once, and what was
  /// sent and not confirmed may be put.
  ///
  /// Signature: `void(error_code, std::uint64_t)`.
  /// Errors: those of `async_put`; `too_large` if one of the messages is (nothing was sent).
  /// Cancellation: all types; it ends the wait, and the messages are put all the same.
  /// Thread safety: as the class says.
  /// Cost: as `async_put`, for each message.
  template <token_for<std::uint64_t> Token = default_token>
  auto async_put_all(std::vector<topic_message> messages, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::uint64_t)>(token, &start_put_all, state_, std::move(messages));
  }

  const session& get_session() const noexcept { return session_; }
  executor_type get_executor() const noexcept { return session_.get_executor(); }

 private:
  using state_ptr = std::shared_ptr<detail::rabbit_producer_state>;
  static void start_put(detail::handler_for<void(error_code)>, state_ptr, std::string, std::string);
  static void start_put_all(detail::handler_for<void(error_code, std::uint64_t)>, state_ptr,
                            std::vector<topic_message>);

  session session_;
  state_ptr state_;
};

}  // namespace zkrecipes
