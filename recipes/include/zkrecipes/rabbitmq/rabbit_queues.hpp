// RabbitMQ queues as a source of messages for consumers.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

/// What waits in the queue of a shard.
struct rabbit_depth {
  std::uint32_t shard = 0;
  std::uint64_t messages = 0;   ///< Ready to be delivered. What consumers have and have not settled does not count.
  std::uint32_t consumers = 0;  ///< Connected to the queue. One of them gets messages.
  bool is_missing = false;      ///< There is no such queue: no producer or consumer has used it, or it was deleted.
};

/// The log of the session (`session_options::log`) tells the words of the broker.
enum class rabbit_errc {
  /// The broker can not be reached, does not answer, or can not serve the queue at present. It is tried again.
  unavailable = 1,
  refused_credentials,  ///< The broker refuses user or password, or does not let the user do what is needed.
  refused,              ///< The broker refuses a request for another reason: it may be too old, or know no such host.
  unexpected_reply,     ///< The broker does not speak AMQP 0-9-1, or not as RabbitMQ does.
  missing_queue,        ///< The queue of a shard has gone, and its messages with it.
  other_queue,          ///< There is a queue of this name that has other arguments than ours: it is no quorum queue.
};

/// The category of `rabbit_errc`; its name is "zkrecipes.rabbitmq".
const boost::system::error_category& rabbit_category() noexcept;

error_code make_error_code(rabbit_errc value) noexcept;

}  // namespace zkrecipes

template <>
struct boost::system::is_error_code_enum<zkrecipes::rabbit_errc> : std::true_type {};

namespace zkrecipes {

namespace detail {
class rabbit_core;
}

/// Messages that are kept in RabbitMQ, consumed under the fence of a leader or of a shard's owner. A shard is a durable
/// quorum queue with a single active consumer, `orders:7`, behind the default exchange. Settled messages are written
/// into a memory in ZooKeeper, in the same transaction as the effects, and acknowledged to the broker afterwards; a
/// message that is delivered again and is in the memory is acknowledged unprocessed. So effects in ZooKeeper happen
/// once for each message id, whatever is killed. A `rabbit_producer` numbers its messages, so that their ids are
/// remembered as ranges, for its last epochs.
/// Any client of RabbitMQ puts with a publish to the default exchange, with the routing key `orders:7`, where 7 is
/// `shard_of("smith")`, the header `key`, and a message id of its own; its id is known until the broker has the
/// acknowledgement, and a message without an id is processed at least once. docs/recipes/rabbitmq.md has an example,
/// the guarantees, and what the broker has to be set to. Needs the component `rabbitmq`. Thread safety: safe.
class rabbit_queues {
 public:
  using executor_type = session::executor_type;

  rabbit_queues() = default;  ///< Stands for nothing: `feed` throws, and operations complete with `closed`.
  /// `path`: where memories and dead letters are kept. Its record is compared when a feed is used first:
  /// `size_mismatch` (another number of shards), `foreign_data` (another queue, or no record of ours).
  /// \throws std::invalid_argument naming the bad path or option.
  rabbit_queues(session over, std::string path, rabbit_options options);

  std::uint32_t shard_of(std::string_view key) const noexcept { return zkrecipes::shard_of(key, shards()); }
  /// The name of the queue of a shard in RabbitMQ.
  std::string queue_of(std::uint32_t shard) const;

  /// The messages of one shard, for a `queue_consumer`: one process at a time should consume a shard, under an election
  /// or a shard group. The first use makes the queue. `message::name` is the id of the message, or a name of the
  /// library's if it has none. A consumer has one connection to the broker for each shard, and keeps what it was sent
  /// in memory, `rabbit_options::prefetch` messages at most.
  ///
  /// The run of the consumer ends with `career_failed` for `rabbit_errc` other than `unavailable` and
  /// `refused_credentials`, for `foreign_data` (a record at the path is not ours) and `size_mismatch`.
  /// `rabbit_errc::missing_queue`: the queue was consumed, and has gone with its messages; docs/recipes/rabbitmq.md
  /// says how to go on. While the broker is away, or refuses the credentials, the consumer waits. \throws
  /// std::invalid_argument if there is no such shard, or if the object was made by default.
  message_feed feed(std::uint32_t shard) const;

  /// Reads how many messages wait, for each shard.
  ///
  /// Signature: `void(error_code, std::vector<rabbit_depth>)`. With an error the vector is empty.
  /// Errors: `no_node` (nobody has used the path yet), `size_mismatch`, `foreign_data`, `no_auth`, `rabbit_errc`
  /// (`unavailable` when the time for retries of the session is over), and those of `session`.
  /// Cancellation: all types.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip to ZooKeeper; a connection to the broker and 1 command for each shard, up to 100 together; a
  /// round trip more for each queue that is missing.
  template <token_for<std::vector<rabbit_depth>> Token = default_token>
  auto async_depths(Token&& token = Token()) {
    return detail::initiate<void(error_code, std::vector<rabbit_depth>)>(token, &start_depths, core_);
  }

  /// Reads the dead letters, oldest first. `dead_letter::item` is the shard, a slash, and the name of the message. With
  /// an error the letters are those that were read before it.
  ///
  /// Signature: `void(error_code, std::vector<dead_letter>)`.
  /// Errors: `no_auth`, and those of `session`.
  /// Cancellation: all types.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, and 1 for each hundred letters; 1 request, and 1 for each letter.
  template <token_for<std::vector<dead_letter>> Token = default_token>
  auto async_dead_letters(Token&& token = Token()) {
    return detail::initiate<void(error_code, std::vector<dead_letter>)>(token, &start_dead_letters, core_);
  }

  /// Puts a dead letter back at the end of its queue, as a new message with its key and data, and removes the letter
  /// when the broker has confirmed it. Two systems take part: with any other error than `no_node`, `bad_arguments`,
  /// `too_large`, `size_mismatch` and `foreign_data` the message may have been put, and the letter may be there. The id
  /// of the message is made of the letter's node, so that a consumer that still knows it drops a second one.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `no_node` (the letter is not there any more, or nobody has used these queues), `outcome_unknown` (the
  /// broker's confirm was lost), `bad_arguments` (`which` is no letter of these queues), `too_large` (the letter's key
  /// or data is more than a producer puts, or a part of the message is not in the letter: see
  /// `dead_letter::missing_bytes`), `size_mismatch` and `foreign_data` (as `async_depths`), `no_auth`,
  /// `rabbit_errc` (as `async_depths`; `missing_queue`: the queue is not there), and those of `session`.
  /// Cancellation: all types; the message may have been put, and the letter removed.
  /// Thread safety: as the class says.
  /// Cost: 3 round trips, 3 requests; a connection to the broker, and 1 message.
  template <token_for<> Token = default_token>
  auto async_revive(dead_letter which, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_revive, core_, std::move(which));
  }

  /// Removes a dead letter for good.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `no_node`, `outcome_unknown` (a reply was lost, and the letter has gone), `bad_arguments` (no name, or one
  /// with a slash), `no_auth`, and those of `session`.
  /// Cancellation: all types; the letter may have been removed.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 1 request.
  template <token_for<> Token = default_token>
  auto async_discard(dead_letter which, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_discard, core_, std::move(which));
  }

  const std::string& path() const noexcept;
  const session& get_session() const noexcept { return session_; }
  executor_type get_executor() const noexcept { return session_.get_executor(); }
  std::uint32_t shards() const noexcept;

  /// For the library; the type is not public.
  using core_ptr = std::shared_ptr<detail::rabbit_core>;
  const core_ptr& get_core() const noexcept { return core_; }

 private:
  template <class... Results>
  using handler = detail::handler_for<void(error_code, Results...)>;
  static void start_depths(handler<std::vector<rabbit_depth>>, core_ptr);
  static void start_dead_letters(handler<std::vector<dead_letter>>, core_ptr);
  static void start_revive(handler<>, core_ptr, dead_letter);
  static void start_discard(handler<>, core_ptr, dead_letter);

  session session_;
  core_ptr core_;
};

}  // namespace zkrecipes
