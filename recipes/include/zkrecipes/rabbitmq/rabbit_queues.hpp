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
#include <zkrecipes/consumer/source_base.hpp>
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

/// Messages that are kept in RabbitMQ, consumed under the fence of a leader or of a shard's owner. A shard is a durable
/// quorum queue with a single active consumer, `orders:7`, behind the default exchange. Settled messages are written
/// into a memory in ZooKeeper, in the same transaction as the effects, and acknowledged to the broker afterwards; a
/// message that is delivered again and is in the memory is acknowledged unprocessed. So effects in ZooKeeper happen
/// once for each message id, whatever is killed. A `rabbit_producer` numbers its messages, so that their ids are
/// remembered as ranges, for its last epochs.
/// Any client of RabbitMQ puts with a publish to the default exchange, with the routing key `orders:7`, where 7 is
/// `shard_of("smith")`, the header `key`, and a message id of its own; its id is known until the broker has the
/// acknowledgement, and a message without an id is processed at least once. docs/recipes/rabbitmq.md has an example,
/// the guarantees, and what the broker has to be set to. There is one group of consumers, `queue_group`. Needs the
/// component `rabbitmq`. Thread safety: safe.
class rabbit_queues : public source_base {
 public:
  rabbit_queues() = default;  ///< Stands for nothing: `feed` throws, and operations complete with `closed`.
  /// `path`: where memories and dead letters are kept. Its record is compared when a feed is used first:
  /// `size_mismatch` (another number of shards), `foreign_data` (another queue, or no record of ours).
  /// \throws std::invalid_argument naming the bad path or option.
  rabbit_queues(session over, std::string path, rabbit_options options);

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

  using source_base::async_lag;
  using source_base::async_revive;

  const rabbit_options& options() const noexcept;
};

}  // namespace zkrecipes
