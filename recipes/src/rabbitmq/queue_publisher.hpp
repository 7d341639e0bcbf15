// The messages of one producer that the broker has not confirmed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "rabbitmq/amqp_client.hpp"

namespace zkrecipes::detail {

/// Says what is to be sent next, and what a confirm is about. A message has a place, which grows in the order of the
/// puts, and on each connection on which it is sent the tag of that. Messages of a queue are sent in the order of their
/// places. The first one of a queue on a connection is alone: RabbitMQ 3.10 can reject the first and take those behind
/// it, if the queue has no leader when the channel first sends to it.
///
/// It does no I/O, and knows neither keys nor data.
class queue_publisher {
 public:
  static constexpr std::size_t most_messages = 1'000;
  static constexpr std::size_t most_bytes = 1024 * 1024;

  /// Whether another message of so many bytes may be added. One that is alone may have any size.
  bool has_room(std::size_t bytes) const noexcept;
  /// Returns the place of the message: 1, 2, ...
  std::uint64_t add(std::uint32_t shard, std::size_t bytes);
  /// Nobody waits for the message any more: it is not sent, or not sent again, and not told of. True: it was
  /// sent, and may be put.
  bool forget(std::uint64_t place);
  /// Nobody waits for any message any more.
  void clear();
  bool is_empty() const noexcept { return messages_.empty(); }

  /// The queue of the first message that waits for its queue to be declared.
  std::optional<std::uint32_t> undeclared() const;
  /// It is there: messages may be sent to it from now on, on all connections.
  void on_declared(std::uint32_t shard);

  /// The first message that may be sent now. `is_single`: only if no other one is under way.
  std::optional<std::uint64_t> next(bool is_single) const;
  /// It was sent with this tag, which is larger than that of each message before.
  void on_sent(std::uint64_t place, std::uint64_t tag);
  /// How many were sent on this connection and have no answer.
  std::size_t under_way() const noexcept { return sent_.size(); }
  /// The place of the one that is under way alone, unless it was forgotten.
  std::optional<std::uint64_t> lone() const;
  /// The tag of the oldest of those that are under way; 0: there is none.
  std::uint64_t oldest_tag() const noexcept { return sent_.empty() ? 0 : sent_.begin()->first; }
  /// The broker has rejected a message: nothing more is to be sent on this connection.
  bool is_rejected() const noexcept { return is_rejected_; }

  /// The places of the messages that are in their queues now. Those that were rejected wait for the next connection.
  std::vector<std::uint64_t> confirm(const amqp_confirm& what);
  /// There was no queue for this message. Its place, unless it was forgotten.
  std::optional<std::uint64_t> take_back(std::uint64_t tag);
  /// The connection has ended: all that was not confirmed waits to be sent again.
  void begin_anew();

 private:
  struct message {
    std::uint32_t shard = 0;
    std::size_t bytes = 0;
    bool is_forgotten = false;
  };
  struct line {
    bool is_declared = false;
    bool is_proven = false;  // a message was confirmed on this connection
    std::size_t under_way = 0;
    std::set<std::uint64_t> waiting{};  // places
  };
  using sent_messages = std::map<std::uint64_t, std::uint64_t>;

  line& answered(std::uint64_t place);
  void wait_again(std::uint64_t place);
  void remove(std::uint64_t place);
  void admit(const line& of);

  std::uint64_t places_ = 0;
  std::size_t bytes_ = 0;
  std::map<std::uint64_t, message> messages_;  // by place
  std::map<std::uint32_t, line> lines_;        // by shard
  std::set<std::uint32_t> undeclared_;         // those of the lines
  sent_messages sent_;                         // tag to place
  std::set<std::uint64_t> ready_;              // places that may be sent now
  bool is_rejected_ = false;
};

}  // namespace zkrecipes::detail
