// What becomes of the deliveries of a queue: which are handed out, which are acknowledged, and what is remembered.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "external/delivery_memory.hpp"
#include "rabbitmq/amqp_content.hpp"

namespace zkrecipes::detail {

/// The deliveries of one connection, and which acknowledgements the broker has for certain.
/// A message may have several deliveries: the broker gives it out again on the same connection when it has lost sight
/// of the consumer for a while, and another message may have the same id. All are acknowledged when the message is
/// settled, because nothing tells which of them counts.
///
/// The proof. A quorum queue gives a consumer a message only while fewer than `prefetch` of those that it has given are
/// not acknowledged, and it gives what was returned to it first. So when a fresh message comes, which was never
/// delivered before, each of the n messages that came on this connection is acknowledged in the broker, or is one of
/// `prefetch` at most. The broker takes acknowledgements in order, so those of the first n - `prefetch` have arrived.
/// A delivery that may be the second one of a message is not counted, and what was acknowledged of the message before
/// proves nothing any more, but keeps its place: so the proof holds whichever of the two it was. It does no I/O.
class delivery_tags {
 public:
  struct acknowledgement {
    std::uint64_t tag = 0;
    bool is_multiple = false;  ///< The acknowledgement is for all deliveries up to this tag.
    friend bool operator==(const acknowledgement&, const acknowledgement&) = default;
  };
  struct delivery {
    std::uint64_t tag = 0;  ///< More than that of the one before.
    std::string id{};       ///< The id of the message.
    bool is_fresh = true;   ///< It was never delivered before.
    bool is_named = true;   ///< The message has this id in the broker. Else it can not be known again.
  };

  explicit delivery_tags(std::size_t prefetch) : prefetch_(prefetch) {}

  /// For a new connection.
  void reset();
  void add(const delivery& what);
  /// Whether a delivery of it is not settled.
  bool holds(const std::string& id) const;
  /// Those of the messages that have come and are not known to be settled for good.
  std::vector<std::string> ids() const;
  /// Whether the message was delivered, and its acknowledgement may not have arrived.
  bool is_open(const std::string& id) const { return messages_.contains(id); }
  /// The message is settled.
  void settle(const std::string& id);
  /// The acknowledgements that are to be sent now, in order.
  std::vector<acknowledgement> take_acknowledgements();
  /// The messages of which it has become certain that the broker has all acknowledgements.
  std::vector<std::string> take_proven();

  /// Whether a fresh message has come. What was returned to the queue before this connection has all come in front.
  bool has_fresh() const noexcept { return has_fresh_; }
  /// Deliveries that are not acknowledged.
  std::size_t unacknowledged() const noexcept { return open_.size(); }
  /// Acknowledgements that may not have arrived.
  std::size_t unproven() const noexcept { return sent_.size(); }
  /// The proof has fallen far behind, because messages have come twice again and again. A new connection helps. But
  /// what a consumer with a larger prefetch has left comes first, and proves nothing. If a connection ended in the
  /// middle of that, the broker would put what is not acknowledged behind the rest of it, and the order would be lost.
  bool is_far_behind() const noexcept {
    constexpr std::size_t most_returned = 1'000;  // the largest prefetch
    return sent_.size() > 3 * (has_fresh_ ? prefetch_ : std::max(prefetch_, most_returned));
  }

 private:
  struct message {
    std::vector<std::uint64_t> tags{};  // that are not acknowledged
    bool is_settled = false;            // all of `tags` are
    std::size_t sent = 0;               // acknowledgements since `round` began that are not proven
    std::uint64_t round = 0;            // a new one begins when the message may have come again
  };
  struct sent_acknowledgement {
    std::string id{};
    std::uint64_t round = 0;
  };
  using messages = std::unordered_map<std::string, message>;

  void acknowledge(std::uint64_t tag);
  void prove();
  void prove_first();

  std::size_t prefetch_;
  std::map<std::uint64_t, std::string> open_;  // ids by the tags that are not acknowledged
  std::set<std::uint64_t> settled_;            // of these
  messages messages_;
  std::deque<sent_acknowledgement> sent_;  // those that are not proven, in order
  std::uint64_t last_round_ = 0;
  std::size_t counted_ = 0;  // messages that have come
  std::size_t proven_ = 0;   // acknowledgements
  bool has_fresh_ = false;
  std::vector<std::string> news_;  // see `take_proven`
};

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
  /// Why a message that is to be handed out, or was, can not be processed. Empty: it can.
  std::string problem_of(const std::string& name) const;
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
  std::map<std::string, std::string> problems_;
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> last_;  // fresh numbers, by producer and epoch
  std::vector<std::string> missing_;
};

}  // namespace zkrecipes::detail
