// What becomes of the deliveries of a queue: which are handed out, which are acknowledged, and what is remembered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "external/delivery_memory.hpp"
#include "rabbitmq/amqp_delivery.hpp"
#include "rabbitmq/delivery_tags.hpp"

namespace zkrecipes::detail {

/// The name of a message that has no id.
/// `_<hash>-<copy>`: made of the key and the data, so that the next process finds the attempts of a message that has
/// killed this one. Messages that are here at the same time differ by their `copy`.
class unnamed_message {
 public:
  explicit unnamed_message(const amqp_delivery& what) : hash_(hash_of(what)) {}

  std::string name(std::uint64_t copy) const;

 private:
  static std::uint64_t hash_of(const amqp_delivery& what);

  std::uint64_t hash_;
};

/// A message that is in hand, or waits to be handed out, is not handed out again: its deliveries are acknowledged
/// together when it is settled. What the memory knows is acknowledged at once. A message without an id can not be known
/// again when it comes by another connection, so it is not remembered. It does no I/O.
class queue_progress {
 public:
  explicit queue_progress(std::size_t prefetch) : prefetch_(prefetch), tags_(prefetch) {}

  /// Before `open`.
  void resize(std::size_t prefetch) { *this = queue_progress(prefetch); }
  /// Nothing is in hand, and there is no connection.
  void open(delivery_memory stored);
  /// The connection has ended. What was not handed out is forgotten, and comes again.
  void lose();

  /// The name of the message if it is to be handed out.
  std::optional<std::string> take(const amqp_delivery& what);
  void hand_out(const std::string& name, bool is_named);
  /// Whether a message without an id is in hand.
  bool has_unnamed() const noexcept { return unnamed_ > 0; }
  /// The broker delivers messages again that it has delivered by this connection. Nothing tells which of
  /// those without an id are here, so all have to be dropped.
  bool is_ambiguous() const noexcept { return is_ambiguous_; }
  /// False: this message is not in hand and was not returned to the queue, so it can not come any more.
  bool can_come(const std::string& name) const;

  const delivery_memory& memory() const noexcept { return memory_; }
  void set_field(std::string_view field, const std::string& text) { memory_.set_field(field, text); }
  /// Runs of messages that have not come, since the last call: a message that was put behind them has come, and the
  /// broker keeps the order.
  std::vector<std::string> take_missing() { return std::exchange(missing_, {}); }
  /// What the settlement of a message in hand makes of a copy of the memory.
  void apply(delivery_memory& to, const std::string& name) const;
  /// It is settled, and the memory with it is stored.
  void settle(const std::string& name);
  void fail(const std::string& name, std::int64_t since) { memory_.fail(name, since); }

  std::vector<delivery_tags::acknowledgement> take_acknowledgements() { return tags_.take_acknowledgements(); }
  /// All messages that the broker may deliver now are here.
  bool is_full() const noexcept { return tags_.unacknowledged() >= prefetch_; }
  bool has_unproven() const noexcept { return tags_.unproven() > 0; }
  bool is_far_behind() const noexcept { return tags_.is_far_behind(); }

 private:
  std::string name_of(const amqp_delivery& what) const;
  void look_for_missing(const numbered_id& of, std::uint64_t first);
  settled_run open_numbers(const numbered_id& of) const;
  void forget_old();
  void forget_if_gone(const std::vector<std::string>& names);

  std::size_t prefetch_;
  delivery_memory memory_;
  delivery_tags tags_;
  std::map<std::string, std::uint64_t> firsts_;  // see `amqp_delivery::first`; of what is in hand or waits for it
  std::map<std::string, bool> in_hand_;          // handed out and not settled; whether the message has an id
  std::size_t unnamed_ = 0;                      // of these, those without
  std::size_t unnamed_waiting_ = 0;              // messages without an id that are to be handed out
  bool is_ambiguous_ = false;
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> last_;  // fresh numbers, by producer and epoch
  std::vector<std::string> missing_;
};

}  // namespace zkrecipes::detail
