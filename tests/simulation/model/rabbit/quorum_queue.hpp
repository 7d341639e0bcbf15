// A quorum queue of RabbitMQ: a replicated log of commands, and the state that they make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rabbitmq/amqp_answer.hpp"
#include "rabbitmq/amqp_content.hpp"
#include "world/pipe.hpp"

namespace zkrecipes::simulation {

/// A message in a queue of the broker.
struct rabbit_message {
  std::uint64_t place = 0;       ///< In the queue: it grows in order of arrival.
  detail::amqp_delivery what{};  ///< As it was published.
  std::string properties{};      ///< The same as it came, encoded; empty: it is made of the above.
  std::uint32_t returns = 0;     ///< How often it was given out and came back.
};

using rabbit_message_ptr = std::shared_ptr<rabbit_message>;

// Is told what happens in the broker.

class rabbit_observer {
 public:
  using messages = std::vector<rabbit_message_ptr>;

  /// The message is in its queue from now on.
  virtual void queued(const std::string& queue, const rabbit_message& what) = 0;
  virtual void delivered(const std::string& queue, const rabbit_message& what) = 0;
  /// An acknowledgement has arrived.
  virtual void acknowledged(const std::string& queue, const rabbit_message& what) = 0;
  /// It is not in its queue any more, because it was acknowledged.
  virtual void removed(const std::string& queue, const rabbit_message& what) = 0;
  /// It has come back too often, and is gone.
  virtual void dropped(const std::string& queue, const rabbit_message& what) = 0;
  /// An operator has deleted the queue, with these messages.
  virtual void deleted(const std::string& queue, const messages& all) = 0;
  /// The queue is there from now on; a client or an operator has declared it.
  virtual void appeared(const std::string& queue) = 0;
  /// A client has made the queue. `is_present`: the connection is not closed at the client's end.
  virtual void made(const std::string& queue, int client, bool is_present) = 0;
  /// A consumer was added to the queue.
  virtual void consumed(const std::string& queue) = 0;
  /// A client breaks the protocol.
  virtual void misbehaved(int client, const std::string& how) = 0;

 protected:
  ~rabbit_observer() = default;
};

class quorum_queue;

/// A channel as a queue knows it.
/// It consumes the queue, or has put messages into it.
class queue_user {
 public:
  virtual bool is_alive() const = 0;
  /// `checkout`: what the queue knows the delivery by.
  virtual void deliver(std::uint64_t checkout, const rabbit_message_ptr& what) = 0;
  /// The queue was deleted.
  virtual void lose_queue(const quorum_queue& which) = 0;

 protected:
  ~queue_user() = default;
};

/// Commands are applied in order. Those that are submitted while there is no leader stay with their channels, and are
/// lost with them. One consumer is active, and the others wait in order of arrival. Messages that come back are
/// given out before others, in the order in which they arrived first.
class quorum_queue : public std::enable_shared_from_this<quorum_queue> {
 public:
  using user_ptr = std::shared_ptr<queue_user>;

  /// The queue as it was declared, and what the broker makes of it.
  struct form {
    detail::delivery_limit argument{};    ///< `x-delivery-limit`.
    std::optional<std::uint32_t> most{};  ///< A message that comes back more often is dropped.
  };

  quorum_queue(clockwork& clock, std::uint64_t seed, std::uint64_t number, std::string name, const form& how,
               rabbit_observer& observer);

  const std::string& name() const noexcept { return name_; }
  const detail::delivery_limit& limit() const noexcept { return how_.argument; }
  bool has_leader() const noexcept { return has_leader_; }
  bool is_deleted() const noexcept { return is_deleted_; }

  /// A command of this channel; null: of the brokers, so that it is never lost. It must not own the queue.
  void submit(const user_ptr& by, action what);

  // Commands, to be called by what was submitted.
  void put(detail::amqp_delivery what, std::string properties = {});
  void consume(const user_ptr& by, std::size_t prefetch);
  void settle(const user_ptr& by, const std::vector<std::uint64_t>& checkouts);
  void leave(const user_ptr& who);

  // Faults.
  void lose_leader();
  /// `forgets`: the active consumer is not known to the new leader, although its connection stays.
  void elect(bool forgets, bool returns_its_messages);
  /// The active consumer is taken for lost for a moment: what it has goes back, and another one becomes active.
  void lose_sight();
  void remove();

  std::size_t ready() const noexcept { return returned_.size() + fresh_.size(); }
  std::size_t consumers() const noexcept { return consumers_.size(); }
  /// The messages in it, given out or not.
  rabbit_observer::messages all() const;
  /// Nothing is in it, and no command is on its way.
  bool is_idle() const { return all().empty() && waiting_.empty() && log_->on_its_way() == 0; }

 private:
  struct command {
    std::weak_ptr<queue_user> by;
    bool is_of_brokers;
    action what;
  };
  struct consumer {
    user_ptr who;
    std::size_t prefetch;
    std::map<std::uint64_t, rabbit_message_ptr> unacknowledged{};  // by checkout
  };
  using consumer_list = std::list<consumer>;

  void record_user(const user_ptr& who);
  void send(action what);
  void deliver();
  rabbit_message_ptr take_next();
  void take_back(consumer& from);
  static consumer* find(consumer_list& in, const user_ptr& who);

  std::string name_;
  form how_;
  rabbit_observer& observer_;
  pipe_ptr log_;
  bool has_leader_ = true;
  bool is_deleted_ = false;
  std::deque<command> waiting_;
  std::map<std::uint64_t, rabbit_message_ptr> returned_;  // by place
  std::deque<rabbit_message_ptr> fresh_;
  consumer_list consumers_;  // the first one is active
  consumer_list forgotten_;
  std::vector<std::weak_ptr<queue_user>> users_;
  std::uint64_t places_ = 0;
  std::uint64_t checkouts_ = 0;
};

using quorum_queue_ptr = std::shared_ptr<quorum_queue>;

}  // namespace zkrecipes::simulation
